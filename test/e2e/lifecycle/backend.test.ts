// What subscribers hear of the process itself: that it is about to stop, and that it has started.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newLocation } from '../../harness/databases.ts'
import { assertPayload, LifecycleStage, owner, ownerJid } from '../../harness/lifecycle-stage.ts'

const backend = ['backend_started', 'backend_restarting']

function stopOf(stage: LifecycleStage) {
  let over = false
  const stopped = stage.linked.service.app.stop().then(() => (over = true))
  return { stopped, isOver: () => over }
}

describe('a start', () => {
  test('is told to every instance with a webhook after 8 s, and whether it is connected', async () => {
    await using place = await newLocation('sqlite')
    await using stage = await LifecycleStage.open({ place })
    const { linked, subscribers, clock } = stage
    const hears = (path: string) => [{ url: subscribers.url(path), events: backend }]
    await linked.pair('a', owner, { events_webhook_subscribers: hears('/a') })
    await linked.post('', { name: 'b', owner_tag: 'acme', events_webhook_url: subscribers.url('/b') })
    await linked.post('', { name: 'c' })
    await stage.restartService()
    await linked.reaches('a', 'ready')
    await clock.advance(7899)
    assert.equal((await linked.events('a'))['backend_started'], undefined)
    await clock.advance(1)
    const event = 'backend_started'
    const told = { event, instance: 'a', owner_tag: '', jid: ownerJid, connected: true }
    assertPayload(await subscribers.gets('/a', event), told)
    const unlinked = { event, instance: 'b', owner_tag: 'acme', jid: null, connected: false }
    assertPayload(await subscribers.gets('/b', event), unlinked)
    await linked.tells('c', event, 1)
    await stage.pass(60_000)
    assert.deepEqual(subscribers.events('/a'), [event])
  })
})

describe('a stop', () => {
  test('is told at once; the service answers for 12 s more, then connections close', async () => {
    await using stage = await LifecycleStage.open()
    const { linked, subscribers, clock } = stage
    await linked.pair('a', owner, {
      events_webhook_subscribers: [{ url: subscribers.url('/a'), events: [...backend, 'disconnected'] }],
    })
    const { stopped, isOver } = stopOf(stage)
    const restarting = await subscribers.gets('/a', 'backend_restarting')
    assertPayload(restarting, { event: 'backend_restarting', instance: 'a', owner_tag: '', jid: ownerJid })
    await clock.advance(11_999)
    assert.equal((await linked.detail('a')).state, 'ready')
    assert.equal(isOver(), false)
    await clock.advance(1)
    await stopped
    assert.deepEqual(subscribers.events('/a'), ['backend_restarting'])
  })

  test('without an open connection waits only until everybody was told', async () => {
    await using stage = await LifecycleStage.open()
    const { linked, subscribers } = stage
    await linked.post('', { name: 'b', events_webhook_url: subscribers.url('/b') })
    await subscribers.gets('/b', 'qr_generated')
    const { stopped } = stopOf(stage)
    await stage.clock.advance(0)
    await stopped
    assert.equal(subscribers.at('/b', 'backend_restarting').length, 1)
  })

  test('does not wait longer than 5 s for a subscriber that does not answer', async () => {
    await using stage = await LifecycleStage.open()
    const { linked, subscribers, clock } = stage
    const both = ['/silent', '/well'].map((path) => ({ url: subscribers.url(path), events: backend }))
    await linked.post('', { name: 'b', events_webhook_subscribers: both })
    subscribers.script('/silent', 'silence')
    const { stopped, isOver } = stopOf(stage)
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
    await using place = await newLocation('sqlite')
    await using stage = await LifecycleStage.open({ place })
    const { linked, subscribers, clock } = stage
    await linked.pair('a', owner, { events_webhook_url: subscribers.url('/one') })
    await subscribers.gets('/one', 'connected')
    const { stopped } = stopOf(stage)
    await subscribers.gets('/one', 'backend_restarting')
    await clock.advance(12_000)
    await stopped
    await stage.restartService()
    await linked.reaches('a', 'ready')
    await clock.advance(8000)
    await subscribers.gets('/one', 'backend_started')
    await stage.pass(120_000)
    const events = subscribers.events('/one').filter((event) => event !== 'qr_generated')
    assert.deepEqual(events, ['paired', 'connected', 'backend_restarting', 'backend_started'])
    const ids = subscribers.at('/one').map(({ payload }) => payload.id)
    assert.equal(new Set(ids).size, ids.length)
    const { body } = await linked.service.get('/api/instances/a/deliveries')
    const statuses = (body as { event: string; status: string }[]).map(({ event, status }) => `${event} ${status}`)
    assert.deepEqual(
      statuses.filter((one) => !one.endsWith(' delivered')),
      [],
    )
  })
})
