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
