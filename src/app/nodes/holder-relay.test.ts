import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HolderRelay } from './holder-relay.ts'

test('an instance that is assigned during the start is taken when the stored rows are ready', async () => {
  const relay = new HolderRelay()
  const taken: string[] = []
  const holder = {
    take: ({ instance }: { instance: string }) => Promise.resolve(void taken.push(instance)),
    lose: () => Promise.resolve(),
    giveAway: () => Promise.resolve('tried' as const),
    isolated: () => undefined,
  }
  relay.connect({ holder, onSettings: () => undefined })
  const taking = relay.take({ instance: 'shop', node: 'n1', epoch: 1 }, new AbortController().signal)
  await new Promise(setImmediate)
  assert.deepEqual(taken, [])
  relay.open()
  await taking
  assert.deepEqual(taken, ['shop'])
})
