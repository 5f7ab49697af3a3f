// A simulated network, a simulated helpdesk and the service as a process of its own, made to be killed.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { openDatabase } from '../../src/storage/database.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { newLocation } from './databases.ts'
import { destination } from './inbound-stage.ts'
import { seedLinked } from './linked-seed.ts'
import { silentLog } from './logs.ts'
import { networkEnvironment } from './service.ts'
import { ServiceProcess } from './service-process.ts'

// On a busy machine, with a backlog to take up.
const bootMs = 120_000

export class KillableStage {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk
  readonly phone: SimPhone
  service: ServiceProcess
  readonly #environment: Record<string, string>
  readonly #owned: AsyncDisposableStack

  private constructor(
    world: { network: SimNetwork; helpdesk: SimHelpdesk; phone: SimPhone },
    environment: Record<string, string>,
    owned: AsyncDisposableStack,
  ) {
    this.network = world.network
    this.helpdesk = world.helpdesk
    this.phone = world.phone
    this.#environment = environment
    this.#owned = owned
    this.service = new ServiceProcess(environment)
  }

  static async open(engine: EngineName = 'sqlite'): Promise<KillableStage> {
    await using stack = new AsyncDisposableStack()
    const place = stack.use(await newLocation(engine))
    const network = stack.use(await SimNetwork.start())
    const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm }))
    const database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    const [phone] = await seedLinked(database, network, 1)
    await database[Symbol.asyncDispose]()
    assert.ok(phone)
    const environment = { DATABASE_URL: place.url, ...networkEnvironment(network), ...destination(helpdesk) }
    const stage = new KillableStage({ network, helpdesk, phone }, environment, stack.move())
    await stage.service.ready(bootMs)
    return stage
  }

  /** kill -9, and another process takes over. */
  async kill(): Promise<void> {
    this.service.send('SIGKILL')
    await this.service.exited()
    this.service = new ServiceProcess(this.#environment)
    await this.service.ready(bootMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }
}
