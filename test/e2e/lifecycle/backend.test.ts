// What subscribers hear of the process itself: that it is about to stop, and that it has started.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DeliveryStore } from '../../../src/storage/stores/ledger/delivery-store.ts'
import { newLocation } from '../../harness/databases.ts'
import { requestFrom } from '../../harness/http-request.ts'
import { owner, ownerJid } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { assertPayload } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const backend = ['backend_started', 'backend_restarting']

function stopOf(world: LifecycleWorld) {
  let over = false
  const stopped = world.service.app.stop().then(() => (over = true))
  return { stopped, isOver: () => over }
}

describe('a start', () => {
  test('is told to every instance with a webhook after 8 s, with the state of its connection', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    const hears = (path: string) => [{ url: subscribers.url(path), events: backend }]
    await world.pair('a', owner, { events_webhook_subscribers: hears('/a') })
    await world.create({ name: 'b', owner_tag: 'acme', events_webhook_url: subscribers.url('/b') })
    await world.create({ name: 'c' })
    await world.restartService()
    await world.reaches('a', 'ready')
    await clock.advance(7899)
    assert.equal((await world.events('a'))['backend_started'], undefined)
    await clock.advance(1)
    const event = 'backend_started'
    const told = { event, instance: 'a', owner_tag: '', jid: ownerJid, connected: true }
    assertPayload(await subscribers.gets('/a', event), told)
    const unlinked = { event, instance: 'b', owner_tag: 'acme', jid: null, connected: false }
    assertPayload(await subscribers.gets('/b', event), unlinked)
    await world.tells('c', event, 1)
    await world.pass(60_000)
    assert.deepEqual(subscribers.events('/a'), [event])
  })
  test('delivers stored events only when the service answers the requests of subscribers', async () => {
    await using place = await newLocation('sqlite')
    const before = await Service.start({ place })
    const address = before.url
    await before[Symbol.asyncDispose]()
    const answers: number[] = []
    await using subscriber = await LoopbackServer.start((request, response) => {
      request.resume().on('end', () => {
        void requestFrom(address, 'GET', '/api/instances/n0', { token: apiToken }).then(({ status }) => {
          answers.push(status)
          response.end()
        })
      })
    })
    // The start takes them in many steps, which leaves time for a delivery that comes too early.
    const names = Array.from({ length: 300 }, (_, n) => `n${n}`)
    await using service = await Service.start({
      place,
      environment: { PORT: new URL(address).port },
      seed: async (database) => {
        const rows = names.map((name) => database.query.insertInto('instances').values(sampleInstanceColumns(name)))
        await database.write(...rows)
        const delivery = { eventId: 'e', event: 'paired', instance: 'n0', url: subscriber.url(), body: '{}' } as const
        const unsent = { id: 'd', ...delivery, createdAt: 0, expiresAt: null, attempts: 0, nextAt: 0 }
        await new DeliveryStore(database).insert([unsent])
      },
    })
    await waitUntil('the event is delivered', async () => {
      const { body } = await service.get('/api/instances/n0/deliveries')
      return (body as { status: string }[])[0]?.status === 'delivered'
    })
    assert.deepEqual(answers, [200])
  })
})

describe('a stop', () => {
  test('is told at once; the service answers for 12 s more, then connections close', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    await world.pair('a', owner, {
      events_webhook_subscribers: [{ url: subscribers.url('/a'), events: [...backend, 'disconnected'] }],
    })
    const { stopped, isOver } = stopOf(world)
    const restarting = await subscribers.gets('/a', 'backend_restarting')
    assertPayload(restarting, { event: 'backend_restarting', instance: 'a', owner_tag: '', jid: ownerJid })
    await clock.advance(11_999)
    assert.equal((await world.detail('a')).state, 'ready')
    assert.equal(isOver(), false)
    await clock.advance(1)
    await stopped
    assert.deepEqual(subscribers.events('/a'), ['backend_restarting'])
  })

  test('keeps connections open as long as SERVICE_SHUTDOWN_GRACE says', async () => {
    await using world = await LifecycleWorld.open({ environment: { SERVICE_SHUTDOWN_GRACE: '2s' } })
    const { subscribers, clock } = world
    await world.pair('a', owner, {
      events_webhook_subscribers: [{ url: subscribers.url('/a'), events: backend }],
    })
    const { stopped, isOver } = stopOf(world)
    await subscribers.gets('/a', 'backend_restarting')
    await clock.advance(1999)
    assert.equal((await world.detail('a')).state, 'ready')
    assert.equal(isOver(), false)
    await clock.advance(1)
    await stopped
  })

  test('without an open connection waits only until every subscriber was told', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers } = world
    await world.create({ name: 'b', events_webhook_url: subscribers.url('/b') })
    await subscribers.gets('/b', 'qr_generated')
    const { stopped } = stopOf(world)
    await world.clock.advance(0)
    await stopped
    assert.equal(subscribers.at('/b', 'backend_restarting').length, 1)
  })

  test('does not wait longer than 5 s for a subscriber that does not answer', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    const both = ['/silent', '/well'].map((path) => ({ url: subscribers.url(path), events: backend }))
    await world.create({ name: 'b', events_webhook_subscribers: both })
    subscribers.script('/silent', 'silence')
    const { stopped, isOver } = stopOf(world)
    await Promise.all([
      subscribers.gets('/silent', 'backend_restarting'),
      subscribers.gets('/well', 'backend_restarting'),
    ])
    await clock.advance(4999)
    assert.equal(isOver(), false)
    await clock.advance(1)
    await stopped
    // The courier gives what is in flight another 5 s at its end.
    subscribers.release()
  })

  test('is not told as an outage, and a graceful restart repeats nothing', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    await world.pair('a', owner, { events_webhook_url: subscribers.url('/one') })
    await subscribers.gets('/one', 'connected')
    const { stopped } = stopOf(world)
    await subscribers.gets('/one', 'backend_restarting')
    await clock.advanceUntil(stopped, 1000)
    await world.restartService()
    await world.reaches('a', 'ready')
    await clock.advance(8000)
    await subscribers.gets('/one', 'backend_started')
    await world.pass(120_000)
    const events = subscribers.events('/one').filter((event) => event !== 'qr_generated')
    assert.deepEqual(events, ['paired', 'connected', 'backend_restarting', 'backend_started'])
    const ids = subscribers.at('/one').map(({ payload }) => payload.id)
    assert.equal(new Set(ids).size, ids.length)
    const { body } = await world.service.get('/api/instances/a/deliveries')
    const statuses = (body as { event: string; status: string }[]).map(({ event, status }) => `${event} ${status}`)
    assert.deepEqual(
      statuses.filter((one) => !one.endsWith(' delivered')),
      [],
    )
  })
})
