// Attachments that the helpdesk hands out late, slowly or not at the first request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { attach, stored, textFile } from './harness/attach-files.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { shownTo } from './harness/views.ts'

/** The helpdesk is asked for a file and does not answer before `answers`. */
async function attachSlow(bed: OutboundBed, name: string) {
  const { promise, resolve: answers } = Promise.withResolvers<undefined>()
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<undefined>()
  bed.helpdesk.beforeDownload = () => {
    isAsked(undefined)
    return promise
  }
  const written = bed.desk.write('slow', { attachments: [stored(bed, textFile(name))] }, bed.conversation)
  await asked
  return { ...written, answers }
}

test('a file that comes later than the answer may: queued, then it arrives', async () => {
  await using bed = await OutboundBed.open()
  const { id, answered, answers } = await attachSlow(bed, 'late.txt')
  await bed.pass(4000)
  assert.equal((await answered).status, 202)
  answers(undefined)
  await bed.until('it arrives', () => bed.network.messages.length === 1)
  await bed.until('it is settled', async () => (await bed.outbox()).sent === 1)
  assert.equal(bed.desk.message(id).status, 'sent')
})

test('a file that hangs is answered in time and delays no other message', async () => {
  await using bed = await OutboundBed.open()
  bed.network.person({ phone: '5511888880002', name: 'Eve' })
  const { answered, answers } = await attachSlow(bed, 'slow.txt')
  const conversation = { id: 60, inbox_id: 1, meta: { sender: { phone_number: '+5511888880002' } } }
  assert.equal((await bed.post(bed.callback(9000, 'quick', { conversation }))).status, 200)
  const startedAt = bed.clock.monotonic()
  let status = 0
  void answered.then((answer) => (status = answer.status))
  await bed.until('it is answered', () => status > 0)
  assert.equal(status, 202)
  assert.ok(bed.clock.monotonic() - startedAt <= 4000)
  answers(undefined)
  await bed.until('it arrives', () => shownTo(bed).length === 1)
})

test('the helpdesk away while a file is fetched: tried again, and sent', async () => {
  await using bed = await OutboundBed.open()
  let failures = 2
  bed.helpdesk.beforeDownload = () => {
    if (failures-- > 0) throw new DownstreamError('transient', 'HTTP 502')
  }
  const written = attach(bed, 'second try', [textFile('a.txt')])
  await bed.until('it arrives', () => bed.network.messages.length === 1, { stepMs: 500 })
  assert.deepEqual(shownTo(bed), ['a.txt: second try'])
  await bed.until('it is settled', async () => (await bed.outbox()).sent === 1)
  assert.equal(bed.desk.message(await written).status, 'sent')
})
