// One world for end-to-end tests: a simulated network, a simulated helpdesk, the service between them, and a clock.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import type { Database } from '../../src/storage/database.ts'
import type { TestLocation } from './databases.ts'
import { InstanceApi } from './instance-api.ts'
import { seedLinked } from './linked-seed.ts'
import { ManualClock } from './manual-clock.ts'
import { apiToken, networkEnvironment, Service } from './service.ts'
import type { ServiceOptions } from './service.ts'
import { waitUntil } from './wait-until.ts'
import { openParts } from './world-parts.ts'
import type { PartOptions, Parts } from './world-parts.ts'

export type WorldOptions = PartOptions &
  Pick<
    ServiceOptions,
    | 'clock'
    | 'qrLifetimeMs'
    | 'onSendStep'
    | 'lateCommitMs'
    | 'importRunner'
    | 'machine'
    | 'watchesSetup'
    | 'throughStranger'
    | 'seed'
  > & {
    /** How many accounts are linked before the service starts: instances `n0`, `n1`, … */
    accounts?: number
  }

export type Health = {
  status: string
  checks: {
    inbox_pending: number
    inbox_parked: number
    pending_logouts: number
    deliveries_exhausted: number
    destinations_held: { destination: string; reason: string }[]
    clocks_differ: { instance: string; helpdesk_ahead_seconds: number }[]
    callbacks_lost: { destination: string; reason: string; advice: string }[]
    setup: { destination: string | null; name: string; sentence: string; cure: string; since: string }[]
    callbacks_refused: { instance: string; reason: string; sentence: string; cure: string; count: number }[]
    network_unreachable: { reason: string; sentence: string; cure: string; instances: string[] }[]
  }
}

export type Running = Parts & {
  phones: SimPhone[]
  service: Service
  options: ServiceOptions
  owned: AsyncDisposableStack
}

export class World extends InstanceApi {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk
  /** The phones of the accounts that were linked at the start. */
  readonly phones: SimPhone[]
  readonly place: TestLocation
  service: Service
  protected readonly options: ServiceOptions
  readonly #owned: AsyncDisposableStack

  protected constructor(running: Running) {
    super()
    this.network = running.network
    this.helpdesk = running.helpdesk
    this.phones = running.phones
    this.place = running.place
    this.service = running.service
    this.options = running.options
    this.#owned = running.owned
  }

  /** Every account that is linked from the start is ready. */
  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(await World.start(options))
    return world.begin(() => world.allReady())
  }

  /** No account is linked at the start; the test pairs what it needs. */
  static unlinked(options: Omit<WorldOptions, 'accounts'> = {}): Promise<World> {
    return World.open({ ...options, accounts: 0 })
  }

  /** Opens the parts and starts a service among them. */
  protected static async start({ accounts = 1, seed: more, ...options }: WorldOptions): Promise<Running> {
    await using stack = new AsyncDisposableStack()
    const parts = await openParts(stack, options)
    const { network, place, environment } = parts
    const lasting = { ...options, network, place, environment }
    let phones: SimPhone[] = []
    const seed = async (database: Database) => {
      phones = await seedLinked(database, network, accounts)
      await more?.(database)
    }
    const service = await Service.start({ ...lasting, seed })
    return { ...parts, phones, service, options: lasting, owned: stack.move() }
  }

  /** The first steps of a new world; a world whose first steps fail is closed. */
  protected async begin(steps: () => Promise<void>): Promise<this> {
    try {
      await steps()
      return this
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The phone of the first account. */
  get phone(): SimPhone {
    const [phone] = this.phones
    assert.ok(phone)
    return phone
  }

  /** What a process needs to take the place of the service. */
  get environment(): Record<string, string> {
    const own = { DATABASE_URL: this.place.url, SERVICE_API_TOKEN: apiToken, HOST: '127.0.0.1' }
    return { ...own, ...networkEnvironment(this.network), ...this.options.environment }
  }

  async stop(): Promise<void> {
    await this.service[Symbol.asyncDispose]()
  }

  /** Another service takes up what is stored; waits for no account. */
  async restartService(environment: Record<string, string> = {}): Promise<void> {
    await this.stop()
    const { environment: settings } = this.options
    this.service = await Service.start({ ...this.options, environment: { ...settings, ...environment } })
  }

  /** Another service takes up what is stored, and all accounts are ready again. */
  async restart(environment: Record<string, string> = {}): Promise<void> {
    await this.restartService(environment)
    await this.allReady()
  }

  /** Moves a manual clock; every other clock moves by itself. */
  override async passTime(ms = 100): Promise<void> {
    const { clock } = this.options
    if (clock instanceof ManualClock) await clock.advance(ms)
  }

  /** The message at the helpdesk that this message of the network became. */
  arrived(sent: { id: string }, matches: (message: SeenMessage) => boolean = () => true): Promise<SeenMessage> {
    return this.helpdesk.waitForMessage(undefined, (each) => each.sourceId === sent.id && matches(each), 60_000)
  }

  async health(): Promise<Health> {
    return (await this.service.get('/api/health')).body as Health
  }

  /** Waits until the inbox is empty. */
  async drained(timeoutMs = 180_000): Promise<void> {
    let seen: Health | undefined
    const holds = async () => {
      seen = await this.health()
      return seen.checks.inbox_pending === 0
    }
    await waitUntil('everything that arrived is delivered', holds, { timeoutMs, instead: () => seen?.checks })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#owned.disposeAsync()
  }
}
