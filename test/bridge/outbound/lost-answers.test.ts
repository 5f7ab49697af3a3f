// The helpdesk does not get our answer and shows a sent message as failed. We notice it without a callback.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

/** The helpdesk shows its own failure, and its callback about that is lost. */
function failSilently(bed: OutboundBed, id: number): void {
  Object.assign(bed.desk.message(id), {
    status: 'failed',
    contentAttributes: { external_error: 'Net::ReadTimeout' },
  })
}

test('a message whose answer did not leave the process is looked at, and shown as sent', async () => {
  await using bed = await OutboundBed.open()
  const id = await bed.write('a private note', { private: true })
  await bed.post(bed.callback(id, 'hello'), { isCut: true })
  await bed.received('hello')
  failSilently(bed, id)
  await bed.until('it is shown as sent', () => bed.desk.message(id).status === 'sent', { stepMs: 1000 })
  assert.deepEqual(bed.texts(), ['hello'])
})

test('a message whose answer was lost on its way is shown as sent after the next message of the customer', async () => {
  await using bed = await OutboundBed.open()
  const { conversationId } = await bed.hears('hi')
  const id = await bed.write('hello', {}, conversationId)
  failSilently(bed, id)
  await bed.pass(60_000)
  assert.equal((await rowOf(bed, id)).shown, 'sent', 'nothing contradicts the answer')
  const conversation = bed.helpdesk.conversations.find((each) => each.id === conversationId)
  assert.ok(conversation)
  conversation.callbackSign = { at: bed.clock.now() - 60_000, failure: null, failedId: id }
  await bed.hears('are you there?')
  await bed.until('it is shown as sent', () => bed.desk.message(id).status === 'sent')
  assert.deepEqual(bed.desk.marks, [{ id, status: 'sent', reason: undefined }])
  assert.deepEqual(bed.texts(), ['hello'])
})

test('a failure that we reported ourselves needs no further look', async () => {
  await using bed = await OutboundBed.open()
  const { conversationId } = await bed.hears('hi')
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const id = await bed.write('hello', {}, conversationId)
  await bed.until('it is reported', async () => (await rowOf(bed, id)).shown === 'told')
  await bed.until('nothing is planned', async () => (await rowOf(bed, id)).look_at === null, { stepMs: 5000 })
  const conversation = bed.helpdesk.conversations.find((each) => each.id === conversationId)
  assert.ok(conversation)
  conversation.callbackSign = { at: bed.clock.now(), failure: null, failedId: id }
  await bed.hears('are you there?')
  await bed.settle()
  assert.equal((await rowOf(bed, id)).look_at, null)
})
