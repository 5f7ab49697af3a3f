import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { chatwootSignatureOf } from '../../harness/signed-callback.ts'

test('what an agent writes reaches the customer, and the answer says so after the network did', async () => {
  await using world = await AgentWorld.open()
  const id = await world.write('**Hello** Bob')
  await world.received('*Hello* Bob')
  const delivery = await world.helpdesk.waitForDelivery('the message', ({ event }) => event === 'message_created')
  assert.equal(delivery.status, 200)
  const answer = await world.post(world.callback(9001, 'direct'))
  const { status, waid, queue_id } = answer.body as Record<string, string>
  assert.deepEqual([answer.status, status, typeof queue_id], [200, 'sent', 'string'])
  assert.equal((await world.received('direct')).id, waid)
  assert.deepEqual(await world.outbox(), {
    instance: 'n0',
    pending: 0,
    sent: 2,
    expired: 0,
    failed: 0,
    oldest_pending_at: null,
  })
  assert.equal(await world.metric('service_messages_total{direction="out",instance="n0",owner_tag=""}'), 2)
  const usage = (await world.service.get('/api/instances/n0/usage')).body as { rows: { messages_out: number }[] }
  assert.equal(usage.rows[0]?.messages_out, 2)
  const risk = (await world.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  assert.deepEqual([risk['velocity_msgs_per_window'], risk['velocity_window_ns']], [2, 60_000_000_000])
  assert.equal((await world.shown(id, () => true)).status, 'sent')
})

test('a clock of the helpdesk that differs is told apart from a wrong secret', async () => {
  const clock = new ManualClock(Date.now())
  await using world = await AgentWorld.open({ clock })
  // Timestamps are whole seconds.
  await clock.advance(1000 - (clock.now() % 1000))
  const secret = world.helpdesk.facts.webhook_secret
  const body = JSON.stringify(world.callback(1, 'late'))
  const post = (secondsAhead: number, key = secret) => {
    const headers = chatwootSignatureOf(body, key, clock.now() + secondsAhead * 1000)
    return world.service.request('POST', '/api/instances/n0/webhook', { token: null, body, headers })
  }
  const differing = async () => {
    const { status, checks } = await world.health()
    return [status, ...checks.clocks_differ.map(({ instance, helpdesk_ahead_seconds: s }) => [instance, s])]
  }
  const refused = await post(3600, 'wrong')
  assertRefused(refused, 'SERVICE_UNAUTHORIZED', /not signed with the secret/)
  assert.deepEqual(await differing(), ['degraded'])
  assertRefused(await post(3600), 'SERVICE_CLOCK_DIFFERS', /signature is right.* 3600 s ahead of the clock/)
  assertRefused(await post(-600), 'SERVICE_CLOCK_DIFFERS', /600 s behind the clock of this service/)
  assert.deepEqual(await differing(), ['degraded', ['n0', -600]])
  const lines = () =>
    world.service.logs.withMessage('the clock of the helpdesk differs from ours: callbacks are refused')
  assert.deepEqual(
    lines().map((line) => [line['instance'], line['helpdesk_ahead_seconds']]),
    [['n0', 3600]],
  )
  assert.deepEqual(world.texts(), [])
  assert.equal((await post(0)).status, 200)
  assert.deepEqual(await differing(), ['ok'])
})

test('the door: unknown instance, signature, size, form', async () => {
  await using world = await AgentWorld.open()
  const callback = world.callback(1, 'x')
  assertRefused(await world.post(callback, { instance: 'nobody' }), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await world.post(callback, { instance: 'nobody', secret: 'wrong' }), 'SERVICE_UNAUTHORIZED')
  assertRefused(await world.post(callback, { secret: 'wrong' }), 'SERVICE_UNAUTHORIZED')
  const unsigned = await world.service.request('POST', '/api/instances/n0/webhook', { body: callback })
  assertRefused(unsigned, 'SERVICE_UNAUTHORIZED')
  assertRefused(await world.post('{'), 'SERVICE_BAD_REQUEST')
  assertRefused(await world.post('[]'), 'SERVICE_BAD_REQUEST')
  assertRefused(await world.post(world.callback(1, 'x'.repeat(6 * 1024 ** 2))), 'SERVICE_BODY_TOO_LARGE')
  const { status, body } = await world.post(world.callback(2, 'y'.repeat(4 * 1024 ** 2)))
  const long = body as Record<string, string>
  assert.deepEqual([status, long['reason'], long['error_code']], [422, 'too_long', 'SERVICE_MESSAGE_UNSENDABLE'])
  assert.match(long['error'] ?? '', /65536 characters/)
  assert.deepEqual(world.texts(), [])
})
