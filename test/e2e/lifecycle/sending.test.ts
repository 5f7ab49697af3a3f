// What subscribers hear of sending: repeated texts, risky behaviour, messages that waited too long, restrictions.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LifecycleEvent } from '../../../src/core/lifecycle/lifecycle.ts'
import { numberOf } from '../../harness/linked-seed.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { assertPayload, lifecycleSecret, SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const known = { instance: 'n0', owner_tag: '', jid: `${numberOf(0)}@s.whatsapp.net` }
const bobJid = '5511888880001@s.whatsapp.net'

type Sending = { world: AgentWorld; subscribers: SubscriberServer; clock: ManualClock } & AsyncDisposable

/** `/wants` hears of this event only, `/other` of everything that sending does not cause. */
async function subscribedTo(event: LifecycleEvent): Promise<Sending> {
  await using stack = new AsyncDisposableStack()
  // Close to the time of day, for the verifier of the signatures looks at that.
  const clock = new ManualClock(Date.now())
  const environment = { SERVICE_LIFECYCLE_SECRET: lifecycleSecret }
  const subscribers = stack.use(await SubscriberServer.start())
  const world = stack.use(await AgentWorld.open({ clock, helpdesk: { clock }, environment }))
  const events_webhook_subscribers = [
    { url: subscribers.url('/wants'), events: [event] },
    { url: subscribers.url('/other'), events: ['logged_out', 'backend_restarting'] },
  ]
  const { status, text } = await world.service.request('PATCH', '/api/instances/n0', {
    body: { events_webhook_subscribers, spamguard_enabled: true },
  })
  assert.equal(status, 200, text)
  const owned = stack.move()
  return { world, subscribers, clock, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Slowly enough for pings to be answered. */
async function pass({ world, clock }: Sending, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 2000) {
    await clock.advance(Math.min(left, 2000))
    await world.service.get('/api/instances/n0/state')
  }
}

/** The subscriber of these events got them, and the other subscriber got nothing. */
function assertHeard({ subscribers }: Sending, events: string[]): void {
  assert.deepEqual(subscribers.events('/wants'), events)
  assert.deepEqual(subscribers.events('/other'), [])
}

test('spam_blocked: every blocked text, with the number of blocks and its first 60 characters', async () => {
  await using sending = await subscribedTo('spam_blocked')
  const { world, subscribers } = sending
  const text = `${'🙂'.repeat(59)}a and what is not shown of it`
  const blocked = { ...known, event: 'spam_blocked', preview: `${'🙂'.repeat(59)}a`, remote_jid: bobJid }
  assert.equal((await world.post(world.callback(1, text))).status, 200)
  const refused = await world.post(world.callback(2, text.toUpperCase()))
  assert.equal((refused.body as { status: string }).status, 'blocked')
  const shouted = { ...blocked, preview: `${'🙂'.repeat(59)}A` }
  assertPayload(await subscribers.gets('/wants', 'spam_blocked'), { ...shouted, count: 1, msg_id: 2 })
  // The same callback once more is the same block.
  await world.post(world.callback(2, text.toUpperCase()))
  await world.post(world.callback(3, text))
  assertPayload(await subscribers.gets('/wants', 'spam_blocked', 2), { ...blocked, count: 2, msg_id: 3 })
  await pass(sending, 30_000)
  assert.equal((await world.post(world.callback(4, text))).status, 200)
  assertHeard(sending, ['spam_blocked', 'spam_blocked'])
})

describe('ban_risk', () => {
  const send = async ({ world }: Sending, first: number, count: number, status: number) => {
    for (let n = first; n < first + count; n++) {
      assert.equal((await world.post(world.callback(n, `message ${n}`))).status, status)
    }
  }

  test('is told when an alert rises, once until it has cleared', async () => {
    await using sending = await subscribedTo('ban_risk')
    const { subscribers } = sending
    await send(sending, 1, 30, 200)
    assertHeard(sending, [])
    await send(sending, 31, 6, 200)
    const score = (0.4 * (31 / 30) + 0.3 * (1 / 20)) / 1.7
    const fast = { ...known, event: 'ban_risk', alert: 'high_velocity', score, level: 'moderate' }
    const measured = { velocity: 31, diversity: 1, delivery_ratio: 1 }
    assertPayload(await subscribers.gets('/wants', 'ban_risk'), { ...fast, ...measured })
    await pass(sending, 30_000)
    assertHeard(sending, ['ban_risk'])
    await pass(sending, 62_000)
    await send(sending, 101, 31, 200)
    assertPayload(await subscribers.gets('/wants', 'ban_risk', 2), { ...fast, ...measured })
    assertHeard(sending, ['ban_risk', 'ban_risk'])
  })

  test('is told of each alert by itself', async () => {
    await using sending = await subscribedTo('ban_risk')
    const { world, subscribers } = sending
    world.network.fault({ kind: 'ack_error', code: 404, times: Infinity })
    await send(sending, 1, 10, 500)
    const { payload } = await subscribers.gets('/wants', 'ban_risk')
    assert.deepEqual([payload['alert'], payload['delivery_ratio'], payload['velocity']], ['low_delivery', 0, 10])
    await send(sending, 11, 21, 500)
    const second = (await subscribers.gets('/wants', 'ban_risk', 2)).payload
    assert.deepEqual([second['alert'], second['delivery_ratio'], second['velocity']], ['high_velocity', 0, 31])
    assertHeard(sending, ['ban_risk', 'ban_risk'])
  })
})

test('outgoing_expired: every message that waited for 5 minutes, under the id it was queued with', async () => {
  await using sending = await subscribedTo('outgoing_expired')
  const { world, subscribers, clock } = sending
  await world.disconnect()
  const long = 'x'.repeat(61)
  const { status, body } = await world.post(world.callback(1, long))
  assert.equal(status, 202)
  await clock.advance(299_000)
  assertHeard(sending, [])
  // A round that is still running when the clock leaps has asked too early: the next one finds it.
  const hasExpired = async () => {
    await clock.advance(30_000)
    return (await world.outbox())['expired'] === 1
  }
  await waitUntil('it has expired', hasExpired)
  const { queue_id } = body as { queue_id: string }
  const expired = { ...known, event: 'outgoing_expired', queue_id, remote_jid: bobJid, preview: 'x'.repeat(60) }
  assertPayload(await subscribers.gets('/wants', 'outgoing_expired'), expired)
  await world.reconnect()
  assert.equal((await world.post(world.callback(2, 'in time'))).status, 200)
  await clock.advance(60_000)
  assertHeard(sending, ['outgoing_expired'])
  assert.deepEqual(world.texts(), ['in time'])
})

test('strike: a refusal that restricts the account is told once, not for every message it meets', async () => {
  await using sending = await subscribedTo('strike')
  const { world, subscribers } = sending
  const { id } = world.bob.text(world.phone, 'hi')
  await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id, 60_000)
  world.phone.user.restrictedUntil = Date.now() + 3_600_000
  world.network.fault({ kind: 'ack_error', code: 463, times: 4 })
  for (const n of [1, 2]) assert.equal((await world.post(world.callback(n, `offer ${n}`))).status, 500)
  const strike = await subscribers.gets('/wants', 'strike')
  const { reason } = strike.payload
  assert.match(String(reason), /^WhatsApp has restricted this account/)
  assertPayload(strike, { ...known, event: 'strike', reason, code: 463 })
  assert.equal((await world.post(world.callback(3, 'an answer'))).status, 200)
  assertHeard(sending, ['strike'])
})
