import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'

test('what an agent writes reaches the customer, and the answer says so after the network did', async () => {
  await using stage = await OutboundStage.open()
  const id = await stage.write('**Hello** Bob')
  await stage.received('*Hello* Bob')
  const delivery = await stage.helpdesk.waitForDelivery('the message', ({ event }) => event === 'message_created')
  assert.equal(delivery.status, 200)
  const answer = await stage.post(stage.callback(9001, 'direct'))
  const { status, waid, queue_id } = answer.body as Record<string, string>
  assert.deepEqual([answer.status, status, typeof queue_id], [200, 'sent', 'string'])
  assert.equal((await stage.received('direct')).id, waid)
  assert.deepEqual(await stage.outbox(), {
    instance: 'n0',
    pending: 0,
    sent: 2,
    expired: 0,
    failed: 0,
    oldest_pending_at: null,
  })
  assert.equal(await stage.metric('service_messages_total{direction="out",instance="n0",owner_tag=""}'), 2)
  const usage = (await stage.service.get('/api/instances/n0/usage')).body as { rows: { messages_out: number }[] }
  assert.equal(usage.rows[0]?.messages_out, 2)
  const risk = (await stage.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  assert.deepEqual([risk['velocity_msgs_per_window'], risk['velocity_window_ns']], [2, 60_000_000_000])
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
})

test('the door: unknown instance, signature, size, form', async () => {
  await using stage = await OutboundStage.open()
  const callback = stage.callback(1, 'x')
  assertRefused(await stage.post(callback, { instance: 'nobody' }), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await stage.post(callback, { instance: 'nobody', secret: 'wrong' }), 'SERVICE_UNAUTHORIZED')
  assertRefused(await stage.post(callback, { secret: 'wrong' }), 'SERVICE_UNAUTHORIZED')
  const unsigned = await stage.service.request('POST', '/api/instances/n0/webhook', { body: callback })
  assertRefused(unsigned, 'SERVICE_UNAUTHORIZED')
  assertRefused(await stage.post('{'), 'SERVICE_BAD_REQUEST')
  assertRefused(await stage.post('[]'), 'SERVICE_BAD_REQUEST')
  assertRefused(await stage.post(stage.callback(1, 'x'.repeat(6 * 1024 ** 2))), 'SERVICE_BODY_TOO_LARGE')
  const long = await stage.post(stage.callback(2, 'y'.repeat(2 * 1024 ** 2)))
  assertRefused(long, 'SERVICE_MESSAGE_REFUSED', /65536 characters/)
  assert.deepEqual(stage.texts(), [])
})

test('what is no error to the agent is answered 200 and not sent', async () => {
  await using stage = await OutboundStage.open()
  const rows: [body: Record<string, unknown>, reason: string][] = [
    [stage.callback(1, 'note', { private: true }), 'private'],
    [stage.callback(2, 'echo', { source_id: '3EB0' }), 'echo'],
    [stage.callback(3, 'theirs', { message_type: 'incoming' }), 'not_outgoing'],
    [{ ...stage.callback(4, 'x'), event: 'conversation_created' }, 'unused_event'],
  ]
  for (const [body, reason] of rows) {
    const answer = await stage.post(body)
    assert.deepEqual([answer.status, answer.body], [200, { status: 'ignored', reason }])
  }
  const twice = [await stage.post(stage.callback(5, 'once')), await stage.post(stage.callback(5, 'once'))]
  assert.deepEqual(
    twice.map(({ status, body }) => [status, (body as { status: string }).status]),
    [
      [200, 'sent'],
      [200, 'ignored'],
    ],
  )
  assert.equal((twice[1]?.body as { reason: string }).reason, 'duplicate')
  assert.deepEqual(stage.texts(), ['once'])
})

test('what the agent believes sent and is not is refused with the reason, which the helpdesk shows', async () => {
  await using stage = await OutboundStage.open()
  const nobody = { id: stage.conversation, inbox_id: 1, meta: { sender: { name: 'Maria' } } }
  const id = await stage.write('for nobody', { private: true })
  assertTurnedAway(await stage.post(stage.callback(id, 'for nobody', { conversation: nobody })), 'no_recipient')
  await stage.shown(id, ({ contentAttributes: { external_error: error } }) => /no phone number/.test(String(error)))
  assertTurnedAway(await stage.post(stage.callback(2, 'x', { inbox: { id: 9 } })), 'other_inbox')
  assertTurnedAway(await stage.post(stage.callback(3, 'x', { account: { id: 9 } })), 'other_inbox')
  assert.deepEqual(stage.texts(), [])
})

function assertTurnedAway({ status, body }: { status: number; body: unknown }, reason: string): void {
  const refusal = body as { status: string; reason: string }
  assert.deepEqual([status, refusal.status, refusal.reason], [422, 'rejected', reason])
}

test('50 deliveries of one message at once send it once', async () => {
  await using stage = await OutboundStage.open()
  const answers = await Promise.all(Array.from({ length: 50 }, () => stage.post(stage.callback(7, 'only once'))))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(answers.filter(({ body }) => (body as { status: string }).status === 'sent').length, 1)
  await stage.post(stage.callback(8, 'the end'))
  assert.deepEqual(stage.texts(), ['only once', 'the end'])
})

test('messages without an id are not told apart', async () => {
  await using stage = await OutboundStage.open()
  for (const id of [0, 0, undefined]) {
    assert.equal((await stage.post({ ...stage.callback(0, 'same'), id })).status, 200)
  }
  assert.deepEqual(stage.texts(), ['same', 'same', 'same'])
})

test('a permanent refusal fails the message with a readable reason, and a repeat gets the same answer', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('refused')
  const delivery = await stage.helpdesk.waitForDelivery('the refusal', ({ status }) => status === 500)
  assert.equal(delivery.event, 'message_created')
  const failed = await stage.shown(id, ({ contentAttributes: { external_error: error } }) => /479/.test(String(error)))
  assert.equal(failed.status, 'failed')
  assertRefused(await stage.post(stage.callback(id, 'refused')), 'SERVICE_MESSAGE_REFUSED', /479/)
  assert.deepEqual(stage.texts(), [])
  assert.equal((await stage.outbox())['failed'], 1)
  const audit = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.ok(audit.entries.some(({ action }) => action === 'outbox.failed'))
  const lost = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="text",owner_tag=""}'
  assert.equal(await stage.metric(lost), 1)
})
