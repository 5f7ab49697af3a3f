// A service that starts: which requests it holds, what it answers meanwhile, and that old messages do not delay it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp } from '../../../src/app/app.ts'
import type { App } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines, newLocation } from '../../harness/databases.ts'
import { requestFrom } from '../../harness/http-request.ts'
import type { Answer, RequestOptions } from '../../harness/http-request.ts'
import { storeBacklog } from '../../harness/inbox-backlog.ts'
import { RecordedLog, silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { apiToken, Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Health = { status: string; checks: { ownership: string } }

const anotherProcess = 'another process'

/** A service that waits for the lease of a process of which it does not know whether it lives. */
class StartingService implements AsyncDisposable {
  readonly url: string
  readonly app: App
  readonly #release: () => Promise<void>
  readonly #owned: AsyncDisposableStack

  private constructor(url: string, app: App, release: () => Promise<void>, owned: AsyncDisposableStack) {
    this.url = url
    this.app = app
    this.#release = release
    this.#owned = owned
  }

  static async open({ engine = 'sqlite', clock = systemClock }: { engine?: EngineName; clock?: Clock } = {}) {
    await using stack = new AsyncDisposableStack()
    const { location, url } = stack.use(await newLocation(engine))
    const config = loadConfig({ PORT: '0', DATABASE_URL: url, SERVICE_API_TOKEN: apiToken, HOST: '127.0.0.1' })
    const database = stack.use(await openDatabase({ location, encryptionKeys: [], log: silentLog }))
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
    const leases = new LeaseStore(database)
    const epoch = await leases.acquire(anotherProcess, 60_000)
    assert.ok(epoch !== undefined)
    const logs = new RecordedLog()
    const app = stack.use(await createApp(config, { log: logs.log, clock }))
    const starting = app.start()
    starting.catch(() => undefined)
    const isWaiting = () => logs.withMessage('another process owns the accounts, waiting').length > 0
    await waitUntil('the service waits for the lease', isWaiting)
    const [listening] = logs.withMessage('http listening')
    const release = async () => {
      await leases.release(anotherProcess, epoch)
      await starting
    }
    return new StartingService(String(listening?.['url']), app, release, stack.move())
  }

  /** The other process gives the lease back; resolves when this one serves. */
  takesOver(): Promise<void> {
    return this.#release()
  }

  request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return requestFrom(this.url, method, path, options)
  }

  callback(): Promise<Answer> {
    return this.request('POST', '/api/instances/a/webhook', { body: { event: 'conversation_typing_on' } })
  }

  async health(): Promise<Health> {
    return (await this.request('GET', '/api/health')).body as Health
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

/** Resolves when the service has read the request and holds it. */
async function held(clock: ManualClock, request: () => Promise<Answer>): Promise<{ answer: Promise<Answer> }> {
  const timers = clock.pending
  const answer = request()
  await waitUntil('the request is held', () => clock.pending > timers)
  return { answer }
}

for (const engine of engines) {
  describe(`a service that waits for the lease of a process that may be dead, on ${engine}`, () => {
    test('holds a callback and every other request, and answers them when it owns the accounts', async () => {
      await using service = await StartingService.open({ engine })
      const answers = [service.callback(), service.request('GET', '/api/tenants', { token: apiToken })]
      assert.deepEqual(await service.health().then(({ status, checks }) => [status, checks.ownership]), [
        'degraded',
        'starting',
      ])
      await service.takesOver()
      assert.deepEqual(
        (await Promise.all(answers)).map(({ status }) => status),
        [200, 200],
      )
      assert.equal((await service.health()).checks.ownership, 'held')
    })
  })
}

test('a request is held for 3.5 s, then refused with the advice to come again', async () => {
  const clock = new ManualClock()
  await using service = await StartingService.open({ clock })
  const callback = await held(clock, () => service.callback())
  await clock.advance(3499)
  const second = await held(clock, () => service.callback())
  await clock.advance(1)
  const refused = await callback.answer
  assertRefused(refused, 'SERVICE_STARTING', /is starting/)
  assert.equal(refused.headers.get('retry-after'), '1')
  await service.takesOver()
  assert.equal((await second.answer).status, 200)
})

test('a request without a token is refused at once while the service starts', async () => {
  await using service = await StartingService.open({ clock: new ManualClock() })
  assertRefused(await service.request('GET', '/api/tenants'), 'SERVICE_UNAUTHORIZED')
})

test('a service that stops while it starts refuses the requests that it holds', async () => {
  const clock = new ManualClock()
  await using service = await StartingService.open({ clock })
  const callback = await held(clock, () => service.callback())
  await service[Symbol.asyncDispose]()
  assertRefused(await callback.answer, 'SERVICE_STARTING')
})

test('stored messages that cannot be taken up yet do not keep the service from serving', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
      await storeBacklog(database, { rows: 20, chats: 20, instance: 'a' })
      // Storage refuses the person of each message for a second, and then the message goes on without the person.
      await database.write({ sql: 'ALTER TABLE people RENAME TO people_away', parameters: [] })
    },
  })
  assert.equal(service.logs.withMessage('a received message cannot be taken up yet').length <= 3, true)
  const { checks } = (await service.get('/api/health')).body as { checks: { inbox_pending: number } }
  assert.equal(checks.inbox_pending, 20)
})
