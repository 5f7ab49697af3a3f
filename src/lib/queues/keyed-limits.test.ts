import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { KeyedLimits } from './keyed-limits.ts'

const never = new AbortController().signal

/** Work that goes on until the test ends it. */
function openEnded() {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    work: () => promise,
    end: () => {
      resolve(undefined)
    },
  }
}

test('each key has its own places, and the next work begins when a place is free', async () => {
  const limits = new KeyedLimits<string>(1)
  const begun: string[] = []
  const first = openEnded()
  const begin = (key: string, name: string, work: () => Promise<unknown>) =>
    limits.run(key, never, () => {
      begun.push(name)
      return work()
    })
  const all = [
    begin('a', 'a1', first.work),
    begin('a', 'a2', () => Promise.resolve()),
    begin('b', 'b1', () => Promise.resolve()),
  ]
  await turn()
  assert.deepEqual(begun, ['a1', 'b1'])
  first.end()
  await Promise.all(all)
  assert.deepEqual(begun, ['a1', 'b1', 'a2'])
})

test('failed work frees its place, and a key without work is forgotten', async () => {
  const limits = new KeyedLimits<string>(1)
  await assert.rejects(
    limits.run('a', never, () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.equal(await limits.run('a', never, () => Promise.resolve(7)), 7)
  assert.equal(limits.size, 0)
})

test('waiting work does not begin after its signal aborted', async () => {
  const limits = new KeyedLimits<string>(1)
  const first = openEnded()
  const running = limits.run('a', never, first.work)
  const stop = new AbortController()
  const waiting = limits.run('a', stop.signal, () => assert.fail('it began'))
  stop.abort(new Error('stopped'))
  await assert.rejects(waiting, /stopped/)
  assert.equal(limits.size, 1)
  first.end()
  await running
  assert.equal(limits.size, 0)
})
