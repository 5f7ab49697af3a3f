// What the helpdesk is answered to its callbacks, and what the agent sees of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import type { Answer } from './harness/agent-desk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { auditOf, metricOf, reported, rowOf, rowsOf } from './harness/views.ts'

test('a callback that is no error to the agent is answered 200 and not sent', async () => {
  await using bed = await OutboundBed.open()
  const rows: [body: Record<string, unknown>, reason: string][] = [
    [bed.callback(1, 'note', { private: true }), 'private'],
    [bed.callback(2, 'echo', { source_id: '3EB0' }), 'echo'],
    [bed.callback(3, 'theirs', { message_type: 'incoming' }), 'not_outgoing'],
    [{ ...bed.callback(4, 'x'), event: 'conversation_created' }, 'unused_event'],
  ]
  for (const [body, reason] of rows) {
    const answer = await bed.post(body)
    assert.deepEqual([answer.status, answer.body], [200, { status: 'ignored', reason }])
  }
  const twice = [await bed.post(bed.callback(5, 'once')), await bed.post(bed.callback(5, 'once'))]
  assert.deepEqual(
    twice.map(({ status, body }) => [status, (body as { status: string }).status]),
    [
      [200, 'sent'],
      [200, 'ignored'],
    ],
  )
  assert.equal((twice[1]?.body as { reason: string }).reason, 'duplicate')
  assert.deepEqual(bed.texts(), ['once'])
})

test('a message that cannot be sent is refused with the reason, which the helpdesk shows', async () => {
  await using bed = await OutboundBed.open()
  const nobody = { id: bed.conversation, inbox_id: 1, meta: { sender: { name: 'Maria' } } }
  const id = await bed.write('for nobody', { private: true })
  assertTurnedAway(await bed.post(bed.callback(id, 'for nobody', { conversation: nobody })), 'no_recipient')
  await bed.shown(id, ({ contentAttributes: { external_error: error } }) => /no phone number/.test(String(error)))
  assertTurnedAway(await bed.post(bed.callback(2, 'x', { inbox: { id: 9 } })), 'other_inbox')
  assertTurnedAway(await bed.post(bed.callback(3, 'x', { account: { id: 9 } })), 'other_inbox')
  assert.deepEqual(bed.texts(), [])
})

function assertTurnedAway({ status, body }: Answer, reason: string): void {
  const refusal = body as { status: string; reason: string }
  assert.deepEqual([status, refusal.status, refusal.reason], [422, 'rejected', reason])
}

test('messages without an id are not told apart', async () => {
  await using bed = await OutboundBed.open()
  for (const id of [0, 0, undefined]) {
    assert.equal((await bed.post({ ...bed.callback(0, 'same'), id })).status, 200)
  }
  assert.deepEqual(bed.texts(), ['same', 'same', 'same'])
})

test('a permanent refusal fails the message with a readable reason, and a repeat gets the same answer', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'ack_error', code: 479 })
  const { id, answered } = bed.desk.write('refused', {}, bed.conversation)
  assert.equal((await answered).status, 500)
  const failed = await bed.shown(id, ({ contentAttributes: { external_error: error } }) => /479/.test(String(error)))
  assert.equal(failed.status, 'failed')
  assertRefused(await bed.post(bed.callback(id, 'refused')), 'SERVICE_MESSAGE_REFUSED', /479/)
  assert.deepEqual(bed.texts(), [])
  assert.equal((await bed.outbox()).failed, 1)
  assert.ok((await auditOf(bed)).includes('outbox.failed'))
  const lost = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="text",owner_tag=""}'
  assert.equal(await metricOf(bed, lost), 1)
})

test('a message that cannot be sent in its form is refused, and the helpdesk shows the reason', async () => {
  await using bed = await OutboundBed.open()
  const file = (id: number) => ({ id, data_url: `http://desk/${id}` })
  const rows: [content: string, attachments: object[], reason: string, shown: RegExp][] = [
    ['', [{ id: 1, file_type: 'file' }], 'no_file', /where to fetch an attached file/],
    ['see', [file(1), { id: 2 }], 'no_file', /where to fetch an attached file/],
    ['see', Array.from({ length: 31 }, (_, id) => file(id)), 'too_many_files', /more than 30 files/],
    ['see', Array.from({ length: 10_000 }, (_, id) => file(id)), 'too_many_files', /more than 30 files/],
    ['é'.repeat(65_537), [], 'too_long', /longer than the 65536 characters/],
    ['😀'.repeat(65_537), [], 'too_long', /longer than the 65536 characters/],
    ['x'.repeat(4 * 1024 ** 2), [], 'too_long', /longer than the 65536 characters/],
  ]
  for (const [content, attachments, reason, shown] of rows) {
    const { id, answered } = bed.desk.write(content, { attachments }, bed.conversation)
    assertTurnedAway(await answered, reason)
    await bed.shown(id, ({ contentAttributes: { external_error: error } }) => shown.test(String(error)))
    assert.equal(bed.desk.message(id).status, 'failed')
    assert.equal((await rowOf(bed, id)).payload, null, 'its content is not kept')
  }
  assert.deepEqual(bed.texts(), [])
  assert.equal((await bed.post(bed.callback(9001, '😀'.repeat(65_536)))).status, 200)
})

test('a Retry of a message that WhatsApp cannot get as it is fails again with the reason', async () => {
  await using bed = await OutboundBed.open()
  const { id, answered } = bed.desk.write('x'.repeat(65_537), {}, bed.conversation)
  assertTurnedAway(await answered, 'too_long')
  await bed.shown(id, ({ contentAttributes: { external_error: error } }) => /longer than/.test(String(error)))
  await bed.desk.retry(id)
  await bed.shown(id, ({ status }) => status === 'failed')
  assert.deepEqual(bed.texts(), [])
})

test('a mark of privacy that makes no sense keeps the message private', async () => {
  await using bed = await OutboundBed.open()
  for (const mark of ['true', 'false', 0, {}]) {
    const { status, body } = await bed.post(bed.callback(1, 'note', { private: mark }))
    assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'private' }])
  }
  assert.deepEqual(bed.texts(), [])
})

test('a change of a message whose file has no address is answered 200', async () => {
  await using bed = await OutboundBed.open()
  const changed = { event: 'message_updated', attachments: [{ id: 1 }] }
  assert.equal((await bed.post(bed.callback(1, 'x', changed))).status, 200)
})

test('a callback that is read after the helpdesk gave up on it is refused, and only Retry sends its message', async () => {
  await using bed = await OutboundBed.open()
  await bed.write('before')
  await bed.received('before')
  bed.desk.sentSecondsAgo = 6
  const { id, answered } = bed.desk.write('late', {}, bed.conversation)
  assertTurnedAway(await answered, 'too_old')
  assertTurnedAway(await bed.post(bed.callback(id, 'late')), 'too_old')
  bed.desk.sentSecondsAgo = 0
  assert.match(await reported(bed, id), /could not take the message in time/)
  await bed.write('after')
  assert.deepEqual(bed.texts(), ['before', 'after'])
  await bed.desk.retry(id)
  await bed.received('late')
  assert.deepEqual(bed.texts(), ['before', 'after', 'late'])
})

test('a message that is refused twice at once is shown as failed, and no look is left', async () => {
  await using bed = await OutboundBed.open()
  const id = await bed.write('a private note', { private: true })
  const unsendable = bed.callback(id, 'x', { attachments: [{ id: 1 }] })
  const answers = await Promise.all([bed.post(unsendable), bed.post(unsendable)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 422],
  )
  await bed.shown(id, ({ status }) => status === 'failed')
  const isFinished = async () => {
    const rows = await rowsOf(bed, id)
    return rows.length === 2 && rows.every(({ shown, look_at: at }) => shown !== 'unsure' && at === null)
  }
  await bed.until('no look is left', isFinished, { stepMs: 10_000 })
})

test('without the time of the callback nothing is too old', async () => {
  await using bed = await OutboundBed.open()
  bed.desk.sentSecondsAgo = null
  for (const text of ['one', 'two']) {
    await bed.write(text)
    await bed.pass(10_000)
  }
  assert.deepEqual(bed.texts(), ['one', 'two'])
})
