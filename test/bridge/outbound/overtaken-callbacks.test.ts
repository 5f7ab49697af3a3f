// A change of a message overtakes the callback of the message: the message is still sent in its order, once, or not at all.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { Callback } from './harness/agent-desk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

const writtenNow = (bed: OutboundBed) => ({ created_at: new Date(bed.clock.now()).toISOString() })
const change = (callback: Callback): Callback => ({ ...callback, event: 'message_updated' })

/** The helpdesk shows every message as sent. */
function showSent(bed: OutboundBed): void {
  const findMessage = (_: number, id: number) =>
    Promise.resolve({ id, sourceId: null, status: 'sent' as const, createdAt: bed.clock.now(), isDeleted: false })
  bed.helpdesk.agents = { ...bed.helpdesk.agents, findMessage }
}

const changes = {
  'a change': {},
  'a failure of the helpdesk': { content_attributes: { external_error: 'Net::ReadTimeout' } },
}

for (const [what, more] of Object.entries(changes)) {
  test(`a message whose deletion follows ${what} and overtakes its callback is not sent`, async () => {
    await using bed = await OutboundBed.open()
    await bed.post(bed.callback(1, 'first'))
    await bed.pass(1000)
    const written = writtenNow(bed)
    await bed.post(change(bed.callback(5, 'never mind', { ...written, ...more })))
    assert.equal((await rowOf(bed, 5)).count, 1)
    const deleted = { ...written, content_attributes: { deleted: true } }
    await bed.post(change(bed.callback(5, 'This message was deleted', deleted)))
    assert.equal((await rowOf(bed, 5)).count, 0)
    const { body } = await bed.post(bed.callback(5, 'never mind', written))
    assert.deepEqual(body, { status: 'ignored', reason: 'duplicate' })
    await bed.pass(15_000)
    assert.deepEqual(bed.texts(), ['first'])
  })
}

test('a message that is deleted after its Retry, without any callback, is not sent by a late callback', async () => {
  await using bed = await OutboundBed.open()
  await bed.post(bed.callback(1, 'first'))
  const written = writtenNow(bed)
  await bed.pass(15_000)
  const findMessage = () => Promise.reject(new DownstreamError('transient', 'HTTP 500'))
  bed.helpdesk.agents = { ...bed.helpdesk.agents, findMessage }
  await bed.post(change(bed.callback(5, 'never mind', written)))
  const deleted = { ...written, content_attributes: { deleted: true } }
  await bed.post(change(bed.callback(5, 'This message was deleted', deleted)))
  await bed.post(bed.callback(5, 'never mind', written))
  await bed.settle()
  assert.deepEqual(bed.texts(), ['first'])
})

test('a message is awaited in the order of its conversation although its change came first', async () => {
  await using bed = await OutboundBed.open()
  const outgoingMessages = () => Promise.resolve([1, 5, 6].map((id) => ({ id, createdAt: bed.clock.now() })))
  bed.helpdesk.agents = { ...bed.helpdesk.agents, outgoingMessages }
  await bed.post(bed.callback(1, 'first'))
  const written = writtenNow(bed)
  await bed.post(change(bed.callback(5, 'five', written)))
  const six = bed.post(bed.callback(6, 'six', written))
  await bed.pass(300)
  const five = bed.post(bed.callback(5, 'five', written))
  await bed.until('both are sent', () => bed.texts().length === 3)
  await Promise.all([five, six])
  assert.deepEqual(bed.texts(), ['first', 'five', 'six'])
})

test('two changes of a message whose callback is on its way do not send it before the callback', async () => {
  await using bed = await OutboundBed.open()
  showSent(bed)
  await bed.post(bed.callback(1, 'first'))
  await bed.pass(5000)
  const five = bed.callback(5, 'five', writtenNow(bed))
  await bed.post(change(five))
  await bed.pass(50)
  await bed.post(change(five))
  await bed.pass(9000)
  assert.deepEqual(bed.texts(), ['first'])
  await bed.post(five)
  await bed.received('five')
  await bed.pass(20_000)
  assert.deepEqual(bed.texts(), ['first', 'five'])
})

test('two changes of a message whose callback was lost send it after 10 s, once', async () => {
  await using bed = await OutboundBed.open()
  showSent(bed)
  await bed.post(bed.callback(1, 'first'))
  await bed.pass(5000)
  const five = bed.callback(5, 'five', writtenNow(bed))
  await bed.post(change(five))
  await bed.post(change(five))
  await bed.pass(20_000)
  await bed.received('five')
  await bed.pass(20_000)
  assert.deepEqual(bed.texts(), ['first', 'five'])
})
