// Messages of agents while their instance moves to another process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../../src/core/nodes/hold.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

test('a message that is accepted while its instance rests is only stored, and the next process sends it', async () => {
  await using bed = await OutboundBed.open()
  const [worker] = bed.process.outbound.perInstance
  await worker.rest('n0')
  assert.equal((await bed.post(bed.callback(100, 'hello'))).status, 202)
  await bed.settle()
  assert.deepEqual(bed.texts(), [])
  await worker.leave('n0')
  await bed.restart()
  await bed.received('hello')
})

test('a message that is stored while its instance leaves is not kept in memory', async () => {
  const left = { leave: () => Promise.resolve() }
  await using bed = await OutboundBed.open({
    onSendStep: async (step) => {
      if (step === 'accepted') await left.leave()
    },
  })
  const { process } = bed
  const [worker] = process.outbound.perInstance
  await worker.rest('n0')
  left.leave = async () => {
    await worker.leave('n0')
    process.give('n0')
  }
  await bed.post(bed.callback(100, 'hello'))
  await bed.settle()
  assert.equal(process.outbound.pendingOf('n0'), 0)
})

test('a shared inbox: a message of an instance that has just left is stored for its new owner', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const { conversationId } = await bed.hears('to the second', { instance: 'n1' })
  const told: string[] = []
  bed.process.view.tellOwner = (instance) => void told.push(instance)
  // Its account is still here: it closes.
  bed.process.lost.add('n1')
  const { conversation } = bed.callback(0, '')
  const callback = bed.callback(100, 'hello', { conversation: { ...(conversation as object), id: conversationId } })
  assert.equal((await bed.post(callback)).status, 202)
  assert.deepEqual([told, bed.texts()], [['n1'], []])
  await bed.restart()
  assert.equal((await bed.received('hello')).instance, 'n1')
})

test('rows of a deleted instance that this node may not write are not taken for failed', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  await bed.post(bed.callback(100, 'hello'))
  bed.process.lost.add('n0')
  await assert.rejects(bed.process.outbound.forget('n0'), NotHeldError)
})
