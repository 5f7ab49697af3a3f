// A stop in the middle of work: what is under way is finished, what comes is queued, and all of it arrives once.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { assertDelivery, lifecycleSecret, SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const environment = { SERVICE_LIFECYCLE_SECRET: lifecycleSecret }

async function subscribe({ service }: AgentWorld, subscribers: SubscriberServer): Promise<void> {
  const one = { url: subscribers.url('/one'), events: ['backend_restarting'] }
  const body = { events_webhook_subscribers: [one] }
  assert.equal((await service.request('PATCH', '/api/instances/n0', { body })).status, 200)
}

/** Holds the next send back after its id was stored and before its frame leaves. */
class HeldSend {
  readonly reached = Promise.withResolvers<unknown>()
  readonly released = Promise.withResolvers<unknown>()

  readonly onSendStep = async (step: string): Promise<void> => {
    if (step !== 'claimed') return
    this.reached.resolve(step)
    await this.released.promise
  }
}

test('the send under way is finished; messages that come in the grace are queued and sent by the next process', async () => {
  const clock = new ManualClock(Date.now())
  const held = new HeldSend()
  const { onSendStep } = held
  await using subscribers = await SubscriberServer.start()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock }, environment, onSendStep })
  await subscribe(world, subscribers)
  const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
  const toEve = { conversation: { id: 70, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } } }
  const underWay = world.post(world.callback(1, 'under way'))
  await held.reached.promise
  const behind = world.post(world.callback(2, 'behind it'))
  await waitUntil('it waits behind the first', async () => (await world.outbox())['pending'] === 2)

  const stopped = world.service.app.stop()
  assertDelivery(await subscribers.gets('/one', 'backend_restarting'))
  held.released.resolve(null)
  assert.equal(((await underWay).body as { status: string }).status, 'sent')
  const inGrace = [world.post(world.callback(3, 'in the grace')), world.post(world.callback(4, 'to Eve', toEve))]
  for (const { status, body } of await Promise.all([behind, ...inGrace])) {
    assert.deepEqual([status, (body as { status: string }).status], [202, 'queued'])
  }
  for (let second = 0; second < 11; second++) {
    await clock.advance(1000)
    assert.equal((await world.outbox())['pending'], 3)
  }
  assert.deepEqual([world.texts(), world.texts(eve)], [['under way'], []])
  await clock.advance(1000)
  await stopped

  await world.restart()
  const all = ['under way', 'behind it', 'in the grace']
  await waitUntil('all of it is sent', async () => {
    await clock.advance(100)
    return (await world.outbox())['pending'] === 0
  })
  await world.received('in the grace')
  await world.received('to Eve', eve)
  const repeated = await world.post(world.callback(3, 'in the grace'))
  assert.equal((repeated.body as { reason: string }).reason, 'duplicate')
  assert.deepEqual([world.texts(), world.texts(eve)], [all, ['to Eve']])
  assert.equal(world.bob.duplicates + eve.duplicates, 0)
})

test('a send that does not end within the grace is repeated under its id', async () => {
  const clock = new ManualClock(Date.now())
  await using world = await AgentWorld.open({ clock, helpdesk: { clock }, environment })
  world.network.fault({ kind: 'lost_ack' })
  const answer = world.post(world.callback(1, 'in doubt'))
  await world.received('in doubt')
  await clock.advanceUntil(world.service.app.stop(), 1000)
  assert.equal((await answer).status, 202)
  await world.restart()
  await waitUntil('it is sent', async () => {
    await clock.advance(100)
    return (await world.outbox())['sent'] === 1
  })
  assert.deepEqual(world.texts(), ['in doubt'])
  assert.equal(world.bob.duplicates, 1)
})

test('a message whose turn comes in the grace is not sent by this process', async () => {
  const clock = new ManualClock(Date.now())
  const slow = { ...environment, SERVICE_OUTGOING_RATE_LIMIT: '1' }
  const steps: SendStep[] = []
  const onSendStep = (step: SendStep) => {
    steps.push(step)
    return Promise.resolve()
  }
  await using world = await AgentWorld.open({ clock, helpdesk: { clock }, environment: slow, onSendStep })
  assert.equal((await world.post(world.callback(1, 'first'))).status, 200)
  const second = world.post(world.callback(2, 'a minute later'))
  // A row that can be seen is accepted a moment later. Until then its answer has a deadline on this clock.
  const isAccepted = () => steps.filter((step) => step === 'accepted').length === 2
  await waitUntil('it is accepted', isAccepted, { instead: () => steps })
  assert.equal((await world.outbox())['pending'], 1)
  // Slowly enough for pings to be answered.
  for (let passed = 0; passed < 54_000; passed += 2000) {
    await clock.advance(2000)
    assert.equal((await world.outbox())['pending'], 1)
  }
  assert.equal((await second).status, 202)
  const stopped = world.service.app.stop()
  for (let passed = 0; passed < 12_000; passed += 2000) {
    assert.equal((await world.outbox())['pending'], 1)
    await clock.advance(2000)
  }
  await stopped
  assert.deepEqual(world.texts(), ['first'])
  await world.restart()
  await world.received('a minute later')
  assert.deepEqual(world.texts(), ['first', 'a minute later'])
})

test('SIGTERM while many agents write: every message arrives once', async () => {
  await using subscribers = await SubscriberServer.start()
  // Long enough for the sends under way to be acknowledged, and for requests in the grace, also on a busy machine.
  await using world = await AgentWorld.open({ environment: { ...environment, SERVICE_SHUTDOWN_GRACE: '5s' } })
  await subscribe(world, subscribers)
  await world.stop()
  const texts = Array.from({ length: 150 }, (_, n) => `message ${n}`)
  /** The status, or 0 without an answer. */
  const post = async (service: ServiceProcess, n: number): Promise<number> => {
    const body = JSON.stringify(world.callback(n + 1, texts[n] ?? ''))
    const headers = signatureOf(body, world.helpdesk.facts.webhook_secret)
    const answered = service.request('POST', '/api/instances/n0/webhook', { body, headers })
    return answered.then(
      ({ status }) => status,
      () => 0,
    )
  }
  const seen: number[] = []
  {
    await using first = new ServiceProcess(world.environment)
    await first.ready()
    await waitUntil('the account is online', () => first.reached('ready'))
    for (let n = 0; n < 60; n += 10) {
      const batch = Array.from({ length: 10 }, (_, i) => post(first, n + i))
      if (n === 30) first.send('SIGTERM')
      seen.push(...(await Promise.all(batch)))
    }
    assertDelivery(await subscribers.gets('/one', 'backend_restarting'))
    for (let n = 60; n < texts.length; n++) seen.push(await post(first, n))
    assert.deepEqual(await first.exited(), { code: 0, signal: null })
  }
  assert.ok(seen.includes(200) && seen.includes(202), 'some were sent, some were queued in the grace')
  assert.ok(
    seen.every((status) => [200, 202, 0].includes(status)),
    `nothing was refused: ${seen.join()}`,
  )
  await using second = new ServiceProcess(world.environment)
  const unanswered = [...texts.keys()].filter((n) => seen[n] === 0)
  const again = await Promise.all(unanswered.map((n) => post(second, n)))
  assert.ok(again.every((status) => status === 200 || status === 202))
  for (const text of texts) await world.received(text)
  assert.deepEqual(world.texts().toSorted(), texts.toSorted())
  assert.equal(world.bob.duplicates, 0)
})
