// How events reach subscribers: tries and pauses, what the API tells of them, and which secrets they never show.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { DeliveryStore } from '../../../src/storage/stores/ledger/delivery-store.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { owner, ownerJid } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { assertDelivery, assertPayload } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Report = {
  id: string
  event_id: string
  event: string
  subscriber: string
  attempts: number
  status: string
  last_code: number | null
  last_error: string | null
  next_attempt_at: string | null
  finished_at: string | null
}

const seconds = 1000
/** The first pauses; the unit tests of the schedule know the longer ones. */
const pauses = [5, 30, 300, 1800]

async function reports(world: LifecycleWorld, path = ''): Promise<Report[]> {
  const { body } = await world.service.get('/api/instances/a/deliveries')
  return (body as Report[]).filter(({ subscriber }) => subscriber.endsWith(path))
}

/** The newest delivery to this path, once it is as asked for. */
async function reaches(world: LifecycleWorld, path: string, holds: (report: Report) => boolean): Promise<Report> {
  let seen: Report | undefined
  await waitUntil(
    `the delivery to ${path} has come that far`,
    async () => {
      seen = (await reports(world, path))[0]
      return seen !== undefined && holds(seen)
    },
    { instead: () => seen },
  )
  return seen as Report
}

/** What health says of deliveries that were not delivered. */
async function exhausted(world: LifecycleWorld): Promise<[string, number]> {
  const { status, checks } = await world.health()
  return [status, checks.deliveries_exhausted]
}

const retries = async (world: LifecycleWorld, event: string, outcome: string) => {
  const { text } = await world.service.get('/metrics')
  const line = `service_lifecycle_webhook_retries_total{event="${event}",outcome="${outcome}"} `
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(line))
      ?.slice(line.length) ?? 0,
  )
}

/** It is cut off after 10 s; its second attempt is answered. */
async function slowOneArrives(world: LifecycleWorld): Promise<void> {
  const { clock, subscribers } = world
  subscribers.script('/slow', 200)
  await clock.advance(10_000)
  // The pause before the second one varies: it may be over already.
  const { next_attempt_at } = await reaches(world, '/slow', ({ attempts }) => attempts >= 1)
  if (next_attempt_at !== null) await clock.advance(Date.parse(next_attempt_at) - clock.now())
  const { last_code, attempts } = await reaches(world, '/slow', ({ status }) => status === 'delivered')
  assert.deepEqual([last_code, attempts], [200, 2])
}

test('of 20 subscribers one is dead and one is slow: each is tried by the schedule, and the others do not wait', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers, clock } = world
  const healthy = Array.from({ length: 18 }, (_, n) => `/healthy-${n}`)
  const all = ['/dead', '/slow', ...healthy]
  subscribers.script('/dead', 500)
  subscribers.script('/slow', 'silence')
  await world.pair('a', owner, {
    events_webhook_subscribers: all.map((path) => ({ url: subscribers.url(path), events: ['paired'] })),
  })
  for (const path of healthy) {
    const received = await subscribers.gets(path, 'paired')
    assertPayload(received, { event: 'paired', instance: 'a', owner_tag: '', jid: ownerJid })
  }
  await subscribers.gets('/slow', 'paired')
  for (const [index, pause] of pauses.entries()) {
    const attempts = index + 1
    const report = await reaches(world, '/dead', (one) => one.attempts === attempts)
    assert.deepEqual([report.status, report.last_code], ['pending', 500])
    const ms = Date.parse(report.next_attempt_at ?? '') - clock.now()
    assert.ok(ms >= 0.9 * pause * seconds && ms <= 1.1 * pause * seconds, `pause ${attempts} is ${ms} ms`)
    if (index === 1) await slowOneArrives(world)
    await clock.advance(Date.parse(report.next_attempt_at ?? '') - clock.now() - 1)
    assert.equal(subscribers.at('/dead').length, attempts)
    await clock.advance(1)
    const again = await subscribers.gets('/dead', 'paired', attempts + 1)
    assertDelivery(again)
    assert.equal(again.raw, subscribers.at('/dead')[0]?.raw, 'the same body and id')
  }
  assert.equal(await retries(world, 'paired', 'success'), 1)
  for (const path of healthy) assert.equal(subscribers.at(path).length, 1)
})

test('after the ninth attempt a delivery is exhausted: the log and health show it until it is sent again', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers, service, clock } = world
  subscribers.script('/dead', 500)
  await world.create({
    name: 'a',
    events_webhook_subscribers: [{ url: subscribers.url('/dead'), events: ['connected'] }],
  })
  const now = clock.now()
  const tried = { eventId: randomUUID(), event: 'connected', instance: 'a', url: subscribers.url('/dead') } as const
  const body = JSON.stringify({ id: tried.eventId, event: 'connected', instance: 'a' })
  await new DeliveryStore(service.database).insert([
    { ...tried, id: 'tried', body, createdAt: now, expiresAt: null, attempts: 8, nextAt: now },
  ])
  assert.deepEqual(await exhausted(world), ['ok', 0])
  await world.restartService()
  const ended = await reaches(world, '/dead', ({ status }) => status === 'exhausted')
  assert.deepEqual([ended.attempts, ended.next_attempt_at], [9, null])
  assert.equal(await retries(world, 'connected', 'exhausted'), 1)
  const [line] = world.service.logs.withMessage('a lifecycle event was not delivered and is not tried again')
  assert.deepEqual([line?.['level'], line?.['id'], line?.['attempts'], line?.['code']], [40, ended.id, 9, 500])
  assert.deepEqual(await exhausted(world), ['degraded', 1])
  await world.restartService()
  assert.deepEqual(await exhausted(world), ['degraded', 1], 'the next process shows it, too')
  subscribers.script('/dead', 200)
  assert.equal((await world.command(`/a/deliveries/${ended.id}/redeliver`)).status, 200)
  await reaches(world, '/dead', ({ status }) => status === 'delivered')
  assert.deepEqual(await exhausted(world), ['ok', 0])
})

test('health counts an event that was dropped because too many wait, also in the next process', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers, service, clock } = world
  await world.create({ name: 'a', events_webhook_subscribers: [] })
  const now = clock.now()
  const waiting = Array.from({ length: 1001 }, (_, n) => ({
    id: String(n).padStart(4, '0'),
    eventId: randomUUID(),
    event: 'connected' as const,
    instance: 'a',
    url: subscribers.url('/dead'),
    body: '{}',
    createdAt: now,
    expiresAt: null,
    attempts: 1,
    nextAt: now + 3600 * seconds,
  }))
  await new DeliveryStore(service.database).insert(waiting)
  for (const process of ['the process that drops it', 'the next process']) {
    await world.restartService()
    await waitUntil(`${process} shows it`, async () => (await exhausted(world))[1] === 1)
    assert.deepEqual(await exhausted(world), ['degraded', 1])
  }
})

describe('a subscriber', () => {
  test('that names a time is tried then; one that says gone is not tried again; a redirect is not followed', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    subscribers.script('/busy', { status: 503, headers: { 'retry-after': '11' } }, 204)
    subscribers.script('/gone', 410)
    subscribers.script('/moved', { status: 307, headers: { location: subscribers.url('/elsewhere') } })
    await world.create({
      name: 'a',
      events_webhook_subscribers: ['/busy', '/gone', '/moved'].map((path) => ({ url: subscribers.url(path) })),
    })
    const asked = clock.now()
    const busy = await reaches(world, '/busy', ({ attempts }) => attempts === 1)
    assert.equal(Date.parse(busy.next_attempt_at ?? '') - asked, 11_000)
    assert.deepEqual((await reaches(world, '/gone', ({ status }) => status !== 'pending')).status, 'refused')
    const moved = await reaches(world, '/moved', ({ attempts }) => attempts === 1)
    assert.deepEqual([moved.status, moved.last_code], ['pending', 307])
    await clock.advance(11_000)
    assert.equal((await reaches(world, '/busy', ({ status }) => status === 'delivered')).last_code, 204)
    assert.equal(subscribers.at('/gone').length, 1)
    assert.deepEqual(subscribers.at('/elsewhere'), [])
  })

  test('hears of an event of an instance that was deleted since', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    subscribers.script('/one', 500, 200)
    await world.create({ name: 'a', events_webhook_url: subscribers.url('/one') })
    await reaches(world, '/one', ({ attempts }) => attempts === 1)
    assert.equal((await world.service.request('DELETE', '/api/instances/a')).status, 200)
    await clock.advance(5500)
    await subscribers.gets('/one', 'qr_generated', 2)
    assertRefused(await world.service.get('/api/instances/a/deliveries'), 'SERVICE_INSTANCE_NOT_FOUND')
  })

  test('at a metadata address is never contacted, however it came to be stored', async () => {
    await using world = await LifecycleWorld.open({
      seed: async (database) => {
        await database.write(
          database.query
            .insertInto('instances')
            .values(sampleInstanceColumns('a', { eventsWebhookUrl: 'http://169.254.169.254/latest' })),
        )
      },
    })
    const report = await reaches(world, '/latest', ({ attempts }) => attempts === 1)
    assert.equal(report.last_code, null)
    assert.match(report.last_error ?? '', /never contacted/)
  })
})

test('subscribers take precedence over the URL; null changes nothing', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers } = world
  /** Applies the change, lets a code be made, and says who heard of it. */
  const hearersAfter = async (change: object) => {
    const { status, text } = await world.service.request('PATCH', '/api/instances/a', { body: change })
    assert.equal(status, 200, text)
    const before = subscribers.received.length
    const told = (await world.events('a'))['qr_generated'] ?? 0
    await world.command('/a/refresh-qr')
    await world.tells('a', 'qr_generated', told + 1)
    await waitUntil('nothing is on its way', async () =>
      (await reports(world)).every(({ status }) => status !== 'pending'),
    )
    return subscribers.received
      .slice(before)
      .map(({ path }) => path)
      .toSorted()
  }
  const to = (path: string) => ({ url: subscribers.url(path) })
  await world.create({ name: 'a', events_webhook_url: subscribers.url('/url') })
  await subscribers.gets('/url', 'qr_generated')
  assert.deepEqual(await hearersAfter({ events_webhook_subscribers: [to('/x'), to('/y')] }), ['/x', '/y'])
  assert.deepEqual(await hearersAfter({ events_webhook_subscribers: null, events_webhook_url: null }), ['/x', '/y'])
  assert.deepEqual(await hearersAfter({ events_webhook_subscribers: [] }), ['/url'])
  assert.deepEqual(await hearersAfter({ events_webhook_url: '' }), [])
})

describe('a wrong subscriber is refused', () => {
  const refused: Record<string, [object, RegExp]> = {
    'an unknown event': [
      { events_webhook_subscribers: [{ url: 'https://a.example', events: ['exploded'] }] },
      /events_webhook_subscribers/,
    ],
    'no URL': [{ events_webhook_subscribers: [{ events: [] }] }, /url/],
    'http to a public host': [{ events_webhook_subscribers: [{ url: 'http://hooks.example.com/x' }] }, /https/],
    'another scheme': [{ events_webhook_subscribers: [{ url: 'ftp://localhost/x' }] }, /https/],
    'a metadata address': [{ events_webhook_subscribers: [{ url: 'https://169.254.169.254/x' }] }, /./],
    'no array': [{ events_webhook_subscribers: 'https://a.example' }, /events_webhook_subscribers/],
    'a single URL that is none': [{ events_webhook_url: 'nonsense' }, /events_webhook_url/],
    'a single URL at a metadata address': [{ events_webhook_url: 'http://169.254.169.254/' }, /events_webhook_url/],
  }
  test('with the field named, and nothing changes', async () => {
    await using world = await LifecycleWorld.open()
    const { service } = world
    await world.create({ name: 'a' })
    for (const [what, [body, sentence]] of Object.entries(refused)) {
      const answer = await service.request('PATCH', '/api/instances/a', { body })
      assert.equal(answer.status, 400, what)
      assertRefused(answer, 'SERVICE_BAD_REQUEST', sentence)
      assertRefused(await world.create({ name: 'b', ...body }), 'SERVICE_BAD_REQUEST', sentence)
    }
    const { body } = await service.get('/api/instances/a')
    assert.deepEqual((body as { events_webhook_subscribers: unknown[] }).events_webhook_subscribers, [])
    assert.equal((await service.get('/api/instances/b')).status, 404)
  })
})

test('a delivery that has ended can be sent again, one under way cannot', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers, clock } = world
  subscribers.script('/gone', 410, 200)
  subscribers.script('/later', 500, 200)
  await world.create({ name: 'b' })
  await world.create({
    name: 'a',
    events_webhook_subscribers: [{ url: subscribers.url('/gone') }, { url: subscribers.url('/later') }],
  })
  const gone = await reaches(world, '/gone', ({ status }) => status === 'refused')
  const later = await reaches(world, '/later', ({ attempts }) => attempts === 1)
  const again = (id: string, name = 'a') => world.command(`/${name}/deliveries/${encodeURIComponent(id)}/redeliver`)
  assertRefused(await again(later.id), 'SERVICE_DELIVERY_PENDING')
  assertRefused(await again(gone.id, 'b'), 'SERVICE_DELIVERY_NOT_FOUND')
  assertRefused(await again('no-such-delivery'), 'SERVICE_DELIVERY_NOT_FOUND')
  assertRefused(await again("1' OR '1'='1"), 'SERVICE_DELIVERY_NOT_FOUND')
  assertRefused(await again(gone.id, 'nobody'), 'SERVICE_INSTANCE_NOT_FOUND')
  assertRefused(await again('x'.repeat(65)), 'SERVICE_BAD_REQUEST', /id/)
  const path = `/api/instances/a/deliveries/${gone.id}/redeliver`
  assert.equal((await world.service.request('POST', path, { token: null })).status, 401)
  assert.equal((await world.service.request('GET', '/api/instances/a/deliveries', { token: null })).status, 401)
  assert.equal((await world.service.request('GET', path)).status, 405)

  // Long after a code was worth anything: it was asked for.
  await clock.advance(60_000)
  const answer = await again(gone.id)
  assert.equal(answer.status, 200, answer.text)
  const sent = () => subscribers.at('/gone').filter(({ payload }) => payload.id === gone.event_id)
  await waitUntil('it is sent again', () => sent().length === 2)
  for (const one of sent()) assertDelivery(one)
  assert.equal(new Set(sent().map(({ raw }) => raw)).size, 1, 'the same body')

  const found = async () => (await reports(world)).find(({ id }) => id === gone.id)
  await waitUntil('it has ended', async () => (await found())?.status === 'delivered')
  const { database, app } = world.service
  const sweep = app.workers.get('delivery-sweep')
  await sweep?.tick()
  assert.ok(await found(), 'kept for 30 days')
  await database.write(database.query.updateTable('deliveries').set({ finished_at: clock.now() - 31 * 86_400_000 }))
  await sweep?.tick()
  assert.equal(await found(), undefined)
})

test('secrets of subscribers and of the service are in no payload, log, report, audit entry or metric', async () => {
  const environment = {
    DOWNSTREAM_API_TOKEN: 'canary-downstream-token',
    WEBHOOK_HMAC_SECRET: 'canary-webhook-secret',
    SERVICE_LIFECYCLE_SECRET: 'canary-lifecycle-secret',
  }
  await using world = await LifecycleWorld.open({ environment })
  const { subscribers, clock } = world
  const { port } = new URL(subscribers.url('/'))
  const secretUrl = (path: string, at = port) => `http://u:canary-password@127.0.0.1:${at}${path}?t=canary-query`
  subscribers.script('/fails?t=canary-query', 500)
  const subscribed = [{ url: secretUrl('/fails') }, { url: secretUrl('/well') }, { url: secretUrl('/nobody', '9') }]
  await world.create({ name: 'a', events_webhook_subscribers: subscribed })
  await reaches(world, '/fails', ({ attempts }) => attempts === 1)
  await reaches(world, '/nobody', ({ attempts }) => attempts === 1)
  const { headers } = await subscribers.gets('/well?t=canary-query', 'qr_generated')
  assert.equal(headers.authorization, `Basic ${Buffer.from('u:canary-password').toString('base64')}`)
  await clock.advance(6000)
  await reaches(world, '/fails', ({ attempts }) => attempts === 2)
  const seen = [
    ...subscribers.received.map(({ raw }) => raw),
    ...world.service.logs.lines,
    ...(await Promise.all(
      ['/api/instances/a/deliveries', '/api/audit', '/metrics', '/api/instances'].map(
        async (path) => (await world.service.get(path)).text,
      ),
    )),
  ]
  assert.ok(seen.length > 10)
  assert.deepEqual(
    seen.filter((text) => text.includes('canary')),
    [],
  )
})
