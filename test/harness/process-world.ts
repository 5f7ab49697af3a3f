// A world whose service is a process of its own, to be killed and started again.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import type { Database } from '../../src/storage/database.ts'
import type { TestLocation } from './databases.ts'
import { InstanceApi } from './instance-api.ts'
import { seedLinked } from './linked-seed.ts'
import { networkEnvironment } from './service.ts'
import { ServiceProcess } from './service-process.ts'
import { openTestConnection } from './test-connection.ts'
import { openParts } from './world-parts.ts'
import type { PartOptions, Parts } from './world-parts.ts'

export type ProcessWorldOptions = PartOptions & {
  /** How many accounts are linked before the service starts. */
  accounts?: number
  /** Runs instead of the service's own main file. */
  script?: string
  /** Runs instead of Node with the main file, for example `npm start`. */
  command?: readonly string[]
  /** Puts rows in place before the service starts. */
  seed?: (database: Database) => Promise<void>
}

export class ProcessWorld extends InstanceApi {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk
  readonly phones: SimPhone[]
  readonly place: TestLocation
  service: ServiceProcess
  readonly #environment: Record<string, string>
  readonly #script: readonly string[] | undefined
  readonly #command: readonly string[] | undefined
  readonly #owned: AsyncDisposableStack

  private constructor(
    { network, helpdesk, place, environment }: Parts,
    phones: SimPhone[],
    owned: AsyncDisposableStack,
    { script, command }: Pick<ProcessWorldOptions, 'script' | 'command'>,
  ) {
    super()
    this.network = network
    this.helpdesk = helpdesk
    this.place = place
    this.phones = phones
    this.#environment = { DATABASE_URL: place.url, ...networkEnvironment(network), ...environment }
    this.#owned = owned
    this.#script = command ? [] : script === undefined ? undefined : [script]
    this.#command = command
    this.service = this.#newProcess()
  }

  static async open({ accounts = 1, seed, ...options }: ProcessWorldOptions = {}): Promise<ProcessWorld> {
    await using stack = new AsyncDisposableStack()
    const parts = await openParts(stack, options)
    const { location } = parts.place
    const database = await openTestConnection(location)
    const phones = await seedLinked(database, parts.network, accounts)
    await seed?.(database)
    await database[Symbol.asyncDispose]()
    const world = new ProcessWorld(parts, phones, stack.move(), options)
    try {
      await world.service.ready()
      return world
    } catch (error) {
      await world[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The phone of the first account. */
  get phone(): SimPhone {
    const [phone] = this.phones
    assert.ok(phone)
    return phone
  }

  /** Ends the process with this signal, and another process takes over. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.end(signal)
    await this.startService()
  }

  async startService(): Promise<void> {
    await this.launch().ready()
  }

  /** Another process, which may still be starting. */
  launch(): ServiceProcess {
    this.service = this.#newProcess()
    return this.service
  }

  /** kill -9, and another process takes over. */
  kill(): Promise<void> {
    return this.restart('SIGKILL')
  }

  /** Ends the process with this signal; nothing runs afterwards. */
  async end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: string | null }> {
    this.service.send(signal)
    return this.service.exited()
  }

  #newProcess(): ServiceProcess {
    return new ServiceProcess(this.#environment, undefined, this.#script, this.#command)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }
}
