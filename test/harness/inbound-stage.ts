// A simulated network, a simulated helpdesk and the service between them, with accounts that are linked already.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calm } from '../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import type { SimNetworkOptions } from '../../sim/network/sim-network.ts'
import type { EngineName } from '../../src/storage/database.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { newLocation } from './databases.ts'
import type { TestLocation } from './databases.ts'
import { seedLinked } from './linked-seed.ts'
import { Service } from './service.ts'
import { waitUntil } from './wait-until.ts'

export type InboundOptions = {
  engine?: EngineName
  accounts?: number
  environment?: Record<string, string>
  clock?: Clock
  helpdesk?: SimHelpdeskOptions
  network?: SimNetworkOptions
  /** How long an uncertain post is looked for; for tests that show what that is good for. */
  lateCommitMs?: number
}

export type Health = {
  status: string
  checks: {
    inbox_pending: number
    inbox_parked: number
    destinations_held: { destination: string; reason: string }[]
  }
}

export class InboundStage {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk
  readonly phones: SimPhone[]
  readonly place: TestLocation
  service: Service
  readonly #environment: Record<string, string>
  readonly #options: InboundOptions
  readonly #owned: AsyncDisposableStack

  private constructor(parts: {
    network: SimNetwork
    helpdesk: SimHelpdesk
    phones: SimPhone[]
    place: TestLocation
    service: Service
    environment: Record<string, string>
    options: InboundOptions
    owned: AsyncDisposableStack
  }) {
    this.network = parts.network
    this.helpdesk = parts.helpdesk
    this.phones = parts.phones
    this.place = parts.place
    this.service = parts.service
    this.#environment = parts.environment
    this.#options = parts.options
    this.#owned = parts.owned
  }

  static async open(options: InboundOptions = {}): Promise<InboundStage> {
    await using stack = new AsyncDisposableStack()
    const network = stack.use(await SimNetwork.start(options.network))
    const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm, ...options.helpdesk }))
    const place = stack.use(await newLocation(options.engine ?? 'sqlite'))
    const environment = { ...(await trustMedia(network, stack)), ...destination(helpdesk), ...options.environment }
    let phones: SimPhone[] = []
    const service = await Service.start({
      ...serviceOptions(options, network, environment),
      place,
      seed: async (database) => {
        phones = await seedLinked(database, network, options.accounts ?? 1)
      },
    })
    const stage = new InboundStage({
      ...{ network, helpdesk, phones, place, service, environment, options },
      owned: stack.move(),
    })
    await stage.allReady()
    return stage
  }

  /** The owner of the first account. */
  get phone(): SimPhone {
    const [phone] = this.phones
    assert.ok(phone)
    return phone
  }

  get environment(): Record<string, string> {
    return this.#environment
  }

  async allReady(): Promise<void> {
    const list = async () => (await this.service.get('/api/instances')).body as { state: string }[]
    await waitUntil('all accounts are ready', async () => (await list()).every(({ state }) => state === 'ready'))
  }

  async restart(environment: Record<string, string> = {}): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    const options = serviceOptions(this.#options, this.network, { ...this.#environment, ...environment })
    this.service = await Service.start({ ...options, place: this.place })
    await this.allReady()
  }

  /** The message at the helpdesk that this one of the network became. */
  arrived(sent: { id: string }, kind: (message: SeenMessage) => boolean = () => true): Promise<SeenMessage> {
    return this.helpdesk.waitForMessage(undefined, (each) => each.sourceId === sent.id && kind(each), 20_000)
  }

  async health(): Promise<Health> {
    return (await this.service.get('/api/health')).body as Health
  }

  /** Resolves when nothing is on its way any more. */
  async drained(timeoutMs = 60_000): Promise<void> {
    let seen: Health | undefined
    const holds = async () => {
      seen = await this.health()
      return seen.checks.inbox_pending === 0
    }
    await waitUntil('everything that arrived is delivered', holds, { timeoutMs, instead: () => seen?.checks })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }
}

export function destination({ facts }: SimHelpdesk): Record<string, string> {
  return {
    DOWNSTREAM_BASE_URL: facts.url,
    DOWNSTREAM_API_TOKEN: facts.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(facts.account_id),
    DOWNSTREAM_INBOX_ID: String(facts.inbox_id),
  }
}

function serviceOptions(options: InboundOptions, network: SimNetwork, environment: Record<string, string>) {
  const { engine, clock, lateCommitMs } = options
  const late = lateCommitMs === undefined ? {} : { lateCommitMs }
  return { network, environment, ...(engine && { engine }), ...(clock && { clock }), ...late }
}

async function trustMedia(network: SimNetwork, stack: AsyncDisposableStack): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-ca-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'ca.pem')
  await writeFile(path, network.authority.pem)
  return { SERVICE_NETWORK_CA: path }
}
