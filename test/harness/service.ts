// A whole service inside the test: real HTTP on a free port, a database of its own, logs that can be read.

import type { SimNetwork } from '../../sim/network/sim-network.ts'
import { createApp } from '../../src/app/app.ts'
import type { App, Overrides } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Database, EngineName } from '../../src/storage/database.ts'
import { migratedLocation } from './databases.ts'
import type { TestLocation } from './databases.ts'
import { assertDocumented } from './documented-statuses.ts'
import { isAnsweredByAll, namesToCreate } from './doors.ts'
import { requestFrom } from './http-request.ts'
import type { Answer, RequestOptions } from './http-request.ts'
import { RecordedLog } from './logs.ts'
import { pinnedVersion } from './service-process.ts'
import { hasStranger, nodeSettings, startStranger, usualEngine } from './stranger.ts'
import { openTestConnection } from './test-connection.ts'

export const apiToken = 'test-token'

export type ServiceOptions = {
  engine?: EngineName
  environment?: Record<string, string>
  clock?: Clock
  /** The simulated network to connect to. */
  network?: SimNetwork
  qrLifetimeMs?: number
  onSendStep?: NonNullable<Overrides['onSendStep']>
  lateCommitMs?: number
  /** Runs the jobs in place of the importer. */
  importRunner?: NonNullable<Overrides['importRunner']>
  /** The other processes on the same database. */
  nodes?: NonNullable<Overrides['nodes']>
  /** What the checks of the set-up find on the machine. */
  machine?: NonNullable<Overrides['machine']>
  /**
   * The checks of the set-up run in the background, as in production. Otherwise a test runs them with `tick()`: most tests
   * count requests, or use a helpdesk inbox without a webhook address, which makes health degraded.
   */
  watchesSetup?: boolean
  /** Use this database instead of a new one; it is left in place. */
  place?: TestLocation
  /** On PostgreSQL: the requests of the test go to a node that holds nothing. */
  throughStranger?: boolean
  /** Puts rows in place before the service starts. */
  seed?: (database: Database) => Promise<void>
}

export class Service {
  readonly app: App
  readonly logs: RecordedLog
  /** Of the node that takes the requests of the test. */
  readonly doorLogs: RecordedLog
  /** A connection of the test's own, to look at or change what is stored. */
  readonly database: Database
  /** The SQLite file, or the URL of the PostgreSQL database. */
  readonly databasePath: string
  /** Where clients and the helpdesk reach the service. */
  readonly url: string
  readonly #owned: AsyncDisposableStack
  /** False if a rate limit counts requests: one more for the document would change what the test sees. */
  readonly #isUnlimited: boolean

  private constructor(
    parts: Pick<Service, 'app' | 'logs' | 'doorLogs' | 'database' | 'databasePath' | 'url'>,
    isUnlimited: boolean,
    owned: AsyncDisposableStack,
  ) {
    const { app, logs, doorLogs, database, databasePath, url } = parts
    this.app = app
    this.logs = logs
    this.doorLogs = doorLogs
    this.database = database
    this.databasePath = databasePath
    this.url = url
    this.#isUnlimited = isUnlimited
    this.#owned = owned
  }

  static async start(options: ServiceOptions = {}): Promise<Service> {
    const {
      engine = usualEngine,
      environment = {},
      clock,
      network,
      qrLifetimeMs,
      onSendStep,
      lateCommitMs,
      importRunner,
      nodes,
      machine,
      watchesSetup = false,
      throughStranger = hasStranger,
      seed,
    } = options
    await using stack = new AsyncDisposableStack()
    const { location, url } = options.place ?? stack.use(await migratedLocation(engine))
    const isShared = throughStranger && location.engine === 'postgres' && !nodes
    const settings = {
      PORT: '0',
      DATABASE_URL: url,
      SERVICE_API_TOKEN: apiToken,
      HOST: '127.0.0.1',
      ...(network ? networkEnvironment(network) : pinnedVersion),
      ...environment,
    }
    const config = loadConfig({ ...settings, ...(isShared && (await nodeSettings())) })
    const database = stack.use(await openTestConnection(location, config.storage.encryptionKeys))
    await seed?.(database)
    const logs = new RecordedLog()
    const overrides = {
      ...(clock && { clock }),
      ...(qrLifetimeMs !== undefined && { qrLifetimeMs }),
      ...(onSendStep && { onSendStep }),
      ...(lateCommitMs !== undefined && { lateCommitMs }),
      ...(importRunner && { importRunner }),
      ...(nodes && { nodes }),
      ...(machine && { machine }),
    }
    // It ends after the owner, whose last answers it passes on.
    const stranger = stack.use(new AsyncDisposableStack())
    const app = stack.use(await createApp(config, { ...overrides, log: logs.log }))
    if (!watchesSetup) await app.workers.get('setup-watch')?.[Symbol.asyncDispose]()
    await app.start()
    const doorLogs = isShared ? new RecordedLog() : logs
    const door = isShared ? stranger.use(await startStranger(settings, { ...overrides, log: doorLogs.log })) : app
    const parts = { app, logs, doorLogs, database, databasePath: url.replace(/^file:/, ''), url: door.url }
    return new Service(parts, config.http.rateLimit === 0, stack.move())
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('GET', path, { headers })
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const base = isAnsweredByAll(method, path) && !this.#creates(method, path, options.body) ? this.url : this.app.url
    const answer = await requestFrom(base, method, path, { token: apiToken, ...options })
    if (this.#isUnlimited) await assertDocumented(this.app.url, { method, path, status: answer.status })
    return answer
  }

  /** A new instance belongs to the node that creates it. */
  #creates(method: string, path: string, body: unknown): boolean {
    const names = namesToCreate(method, path, body)
    return names !== undefined && !names.every((name) => typeof name === 'string' && this.holds(name))
  }

  /** Whether this node holds the instance. */
  holds(name: string): boolean {
    try {
      return this.app.instances.get(name).record.name === name
    } catch {
      return false
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

export function networkEnvironment(network: SimNetwork): Record<string, string> {
  return { SERVICE_NETWORK_URL: network.url, SERVICE_NETWORK_ROOT_KEY: network.rootKey.toString('hex') }
}
