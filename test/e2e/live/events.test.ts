// GET /api/events: what a listener hears while accounts, messages, helpdesks, jobs and deliveries change.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { noImportProgress } from '../../../src/core/jobs/history-jobs.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { DashboardVisitor } from '../../harness/dashboard-visitor.ts'
import { EventStream } from '../../harness/event-stream.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { sampleResult } from '../../jobs/harness/scripted-runner.ts'
import { ImportWorld } from '../history/harness/import-world.ts'

const listen = (world: World, lastId?: string) => EventStream.open(world.service.url, { lastId })

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a listener on ${engine}`, { concurrency: 3 }, () => {
    test('hears of a new instance: its code, its states, and that it is gone', async () => {
      await using world = await World.unlinked({ engine })
      using stream = await listen(world)
      assert.deepEqual(
        ['content-type', 'cache-control', 'x-accel-buffering', 'x-content-type-options'].map((name) =>
          stream.response.headers.get(name),
        ),
        ['text/event-stream; charset=utf-8', 'no-store', 'no', 'nosniff'],
      )
      await stream.next('hello', ({ version, boot_id }) => version !== '' && boot_id !== '')
      await world.pair('a')
      const code = await stream.next('qr', ({ name, available }) => name === 'a' && available === true)
      assert.ok(Date.parse(String(code.data['expires_at'])) > Date.now() - 60_000)
      await stream.next('qr', ({ available, expires_at }) => available === false && expires_at === null)
      const { data } = await stream.next('instance', ({ state }) => state === 'ready')
      const { body } = await world.service.get('/api/overview')
      const [row] = (body as { instances: Record<string, unknown>[] }).instances
      assert.deepEqual(Object.keys(data), Object.keys(row ?? {}))
      await world.service.request('DELETE', '/api/instances/a')
      await stream.next('instance', ({ name, deleted }) => name === 'a' && deleted === true)
      assert.deepEqual(stream.of('instance').at(-1)?.data, { name: 'a', deleted: true })
    })

    test('hears of messages in both directions, and of those that wait', async () => {
      await using world = await AgentWorld.open({ engine })
      using stream = await listen(world)
      const row = (fits: (data: Record<string, unknown>) => boolean) => stream.next('instance', fits)
      await world.arrived(world.bob.text(world.phone, 'hello'))
      await row(({ last_in_at, inbox_pending }) => typeof last_in_at === 'string' && inbox_pending === 0)
      await world.write('good day')
      await world.received('good day')
      await row(({ last_out_at, outbox_pending }) => typeof last_out_at === 'string' && outbox_pending === 0)
      await world.disconnect()
      await row(({ state }) => state !== 'ready')
      await world.write('later')
      await row(({ outbox_pending }) => outbox_pending === 1)
      await world.reconnect()
      await world.received('later')
      await waitUntil('the outbox is empty again', () => {
        const { data } = stream.of('instance').at(-1) ?? {}
        return data?.['outbox_pending'] === 0 && data['state'] === 'ready'
      })
      assert.ok(!JSON.stringify(stream.events).includes('good day'), 'no text of a message')
      assert.ok(!JSON.stringify(stream.events).includes('5511888880001'), 'no number of a customer')
    })

    test('hears of a helpdesk that takes nothing, of the warning, and of its return', async () => {
      await using world = await World.open({ engine })
      using stream = await listen(world)
      await world.helpdesk.fault({ kind: 'wrong_token' })
      world.network.person({ phone: '5511888880001' }).text(world.phone, 'hello')
      const { data } = await stream.next('destination', ({ held }) => held !== null)
      const { reason, since, cure } = data['held'] as Record<string, string>
      assert.ok(reason && cure && !Number.isNaN(Date.parse(since ?? '')))
      await stream.next('alert', ({ message }) => message === 'nothing can be delivered there; messages wait')
      const { body } = await world.service.get('/api/overview')
      const [need] = (body as { needs_you: Record<string, unknown>[] }).needs_you
      assert.deepEqual(
        [need?.['kind'], need?.['destination'], need?.['sentence']],
        ['destination_held', data['destination'], reason],
      )
      await world.helpdesk.clearFaults()
      // The change of a setting tries every destination again.
      await world.patch('n0', { spamguard_enabled: true })
      await stream.next('destination', ({ destination, held }) => destination === data['destination'] && held === null)
      await world.drained()
    })

    test('hears of the progress and the end of a job', async () => {
      await using set = await ImportWorld.open({ engine })
      using stream = await listen(set.world)
      const id = await set.start()
      const run = await set.runner.waitForRun('n0')
      for (let done = 1; done <= 200; done++) run.options.onProgress({ ...noImportProgress, done, total: 200 })
      run.resolve(sampleResult)
      const { data } = await stream.next('job', ({ status }) => status === 'completed')
      const shown = { ...(await set.job(id)), progress: data['progress'], result: undefined }
      assert.deepEqual({ ...data, result: undefined }, shown)
      assert.ok(!('result' in data), 'the result may be long')
      assert.ok(stream.of('job').length < 10, `${stream.of('job').length} events for 200 changes`)
      assert.ok(stream.of('job').every((event) => event.data['id'] === id))
    })

    test('hears of a delivery that has ended', async () => {
      await using world = await World.unlinked({ engine })
      await using subscriber = await SubscriberServer.start()
      using stream = await listen(world)
      await world.pair('a', undefined, { events_webhook_url: subscriber.url('/hook') })
      const { data } = await stream.next('delivery', ({ event }) => event === 'connected')
      assert.deepEqual(Object.keys(data), ['id', 'instance', 'event', 'status', 'attempts'])
      assert.deepEqual([data['instance'], data['status'], data['attempts']], ['a', 'delivered', 1])
    })

    test('that comes back hears what it missed', async () => {
      await using world = await World.unlinked({ engine })
      using first = await listen(world)
      await world.create({ name: 'a' })
      await first.next('instance', ({ name }) => name === 'a')
      first[Symbol.dispose]()
      await world.service.request('DELETE', '/api/instances/a')
      using second = await listen(world, first.lastId)
      await second.next('instance', ({ deleted }) => deleted === true)
      assert.deepEqual(second.of('reset'), [])
    })
  })
}

describe('the stream', () => {
  test('needs the token', async () => {
    await using service = await Service.start()
    assertRefused(await service.request('GET', '/api/events', { token: null }), 'SERVICE_UNAUTHORIZED')
    assert.equal((await service.request('HEAD', '/api/events')).status, 405)
  })

  test('is served with the cookie of a session, and ends with it', async () => {
    const clock = new ManualClock()
    await using service = await Service.start({ clock })
    const { url } = service.app
    const listenAs = ({ cookie }: DashboardVisitor, more: Record<string, string> = {}) =>
      EventStream.open(url, { headers: { authorization: '', cookie, 'sec-fetch-site': 'same-origin', ...more } })
    const visitor = await DashboardVisitor.signIn(url)
    const other = await DashboardVisitor.signIn(url)
    using foreign = await listenAs(visitor, { 'sec-fetch-site': 'cross-site' })
    assert.equal(foreign.response.status, 401)
    using stream = await listenAs(visitor)
    using lasting = await listenAs(other)
    using token = await EventStream.open(url)
    await stream.next('hello')
    assert.equal((await visitor.request('DELETE', '/api/session')).status, 200)
    await stream.next('bye', ({ reason }) => reason === 'expired')
    await stream.ends()
    // At once: background work would run thousands of times meanwhile.
    clock.freeze(12 * 3_600_000)
    await clock.advance(1)
    await lasting.next('bye', ({ reason }) => reason === 'expired')
    await lasting.ends()
    await token.next('hello')
    assert.deepEqual([token.of('bye'), token.isOver], [[], false])
  })

  test('ends with bye when the service stops, and does not delay the stop', async () => {
    await using service = await Service.start()
    using stream = await EventStream.open(service.url)
    await stream.next('hello')
    const begun = performance.now()
    await service[Symbol.asyncDispose]()
    assert.ok(performance.now() - begun < 4000, 'the server waits 5 s for requests that do not end')
    await stream.ends()
    assert.deepEqual(stream.events.at(-1), { id: undefined, event: 'bye', data: { reason: 'stopping' } })
  })

  test('of a listener that does not read is cut, and the others go on', async () => {
    await using service = await Service.start()
    using other = await EventStream.open(service.url)
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /api/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiToken}\r\n\r\n`)
    await once(socket, 'readable')
    // More than the buffers of both ends of the connection take.
    const message = 'x'.repeat(100_000)
    for (let count = 1; count <= 150; count++) {
      service.logs.log.warn(message)
      await waitUntil('the other one has it', () => other.of('alert').length === count)
    }
    const closed = once(socket, 'close')
    // What is left in the buffers is read, up to the end of the connection.
    socket.on('error', () => undefined).resume()
    await closed
    assert.ok(socket.bytesRead < 10_000_000, `${socket.bytesRead} bytes of 15 MB`)
    service.logs.log.warn('the last one')
    await other.next('alert', (data) => data['message'] === 'the last one')
  })

  test('refuses the thirty-third listener', async () => {
    await using service = await Service.start()
    const streams = await Promise.all(Array.from({ length: 32 }, () => EventStream.open(service.url)))
    const refused = await service.get('/api/events')
    assertRefused(refused, 'SERVICE_TOO_MANY_LISTENERS', /32 listeners/)
    assert.equal(refused.headers.get('retry-after'), '5')
    assert.deepEqual(service.logs.withMessage('request failed'), [], 'a dashboard that asks again fills no log')
    streams[0]?.[Symbol.dispose]()
    await waitUntil('there is room again', async () => {
      const stream = await EventStream.open(service.url)
      streams.push(stream)
      return stream.response.status === 200
    })
    for (const stream of streams) stream[Symbol.dispose]()
  })
})

describe('with a quarter of the connections taken by listeners', () => {
  const few = { SERVICE_MAX_CONNECTIONS: '12' }

  test('the next one is refused: the others are for callbacks and requests', async () => {
    await using service = await Service.start({ environment: few })
    const streams = await Promise.all(Array.from({ length: 3 }, () => EventStream.open(service.url)))
    using next = await EventStream.open(service.url)
    assert.equal(next.response.status, 503)
    assertRefused(await service.get('/api/events'), 'SERVICE_TOO_MANY_LISTENERS', /3 listeners/)
    for (const stream of streams) stream[Symbol.dispose]()
  })

  test('a browser that comes back takes the place of the connection that it lost', async () => {
    await using service = await Service.start({ environment: few })
    const { url } = service.app
    const visitor = await DashboardVisitor.signIn(url)
    const other = await DashboardVisitor.signIn(url)
    const listenAs = ({ cookie }: DashboardVisitor) => EventStream.open(url, { headers: { authorization: '', cookie } })
    using lost = await listenAs(visitor)
    using second = await listenAs(visitor)
    using token = await EventStream.open(url)
    using refused = await listenAs(other)
    assert.equal(refused.response.status, 503)
    using back = await listenAs(visitor)
    await back.next('hello')
    await lost.next('bye', ({ reason }) => reason === 'full')
    await lost.ends()
    service.logs.log.warn('heard by the others')
    for (const stream of [second, token, back]) await stream.next('alert')
    assert.deepEqual(lost.of('alert'), [])
  })
})

test('after kill -9 a listener with the old id is told to start anew', async () => {
  await using world = await ProcessWorld.open({ accounts: 1 })
  using before = await EventStream.open(await world.service.ready())
  await world.allReady()
  await before.next('hello')
  await world.kill()
  await before.ends()
  using after = await EventStream.open(await world.service.ready(), { lastId: before.lastId })
  await after.next('reset')
  assert.deepEqual(
    after.events.slice(0, 2).map(({ event }) => event),
    ['hello', 'reset'],
  )
  await world.allReady()
})
