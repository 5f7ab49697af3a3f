// What one process of the service consists of in the outbound bed: both directions of the bridge on one database.

import { noTraces } from '../../../../src/core/trace/traces.ts'
import { createInbound } from '../../../../src/app/inbound/create-inbound.ts'
import type { InboundSet } from '../../../../src/app/inbound/create-inbound.ts'
import { createOutbound } from '../../../../src/app/outbound/create-outbound.ts'
import type { OutboundSet } from '../../../../src/app/outbound/create-outbound.ts'
import { createSettingsOf } from '../../../../src/app/settings-of.ts'
import type { SendStep } from '../../../../src/bridge/outbound/send/row-sender.ts'
import { TypingSubscriptions } from '../../../../src/bridge/sync/typing-subscriptions.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import type { PerInstance } from '../../../../src/core/per-instance.ts'
import { Metrics } from '../../../../src/ledger/metrics.ts'
import { Usage } from '../../../../src/ledger/usage.ts'
import type { Ticker } from '../../../../src/lib/ticker.ts'
import type { Database } from '../../../../src/storage/database.ts'
import { DestinationStore } from '../../../../src/storage/stores/accounts/destination-store.ts'
import { UsageStore } from '../../../../src/storage/stores/ledger/usage-store.ts'
import { InboxIdentities } from '../../../../src/tenants/inbox-identities.ts'
import { Routing } from '../../../../src/tenants/routing.ts'
import type { RecordedLog } from '../../../harness/logs.ts'
import type { ManualClock } from '../../../harness/manual-clock.ts'
import type { ScriptedHelpdesk } from '../../harness/scripted-helpdesk.ts'
import { holdsWithout } from '../../../harness/holds.ts'
import type { ScriptedAccounts } from './scripted-accounts.ts'
import { allDuties } from '../../../harness/duties.ts'

type World = {
  database: Database
  clock: ManualClock
  logs: RecordedLog
  helpdesk: ScriptedHelpdesk
  accounts: ScriptedAccounts
  /** The accounts that the process holds; all of them unless named. */
  held?: readonly string[]
  environment: Record<string, string>
  onSendStep: (step: SendStep) => Promise<void>
}

export class BedProcess {
  readonly inbound: InboundSet
  readonly outbound: OutboundSet
  readonly metrics = new Metrics({ version: 'x' })
  readonly usage: Usage
  /** Instances that another process holds by now. */
  readonly lost = new Set<string>()
  /** Those of which this process knows that it does not hold them any more. */
  readonly #given = new Set<string>()
  /** The other nodes, as this one sees them. */
  readonly view: { hasPeers: boolean; tellOwner: (instance: string) => void } = {
    hasPeers: false,
    tellOwner: () => undefined,
  }
  readonly #owned = new AsyncDisposableStack()

  private constructor({ database, clock, logs, helpdesk, accounts, held: own, environment, onSendStep }: World) {
    const config = loadConfig({ DATABASE_URL: 'file:./unused.db', ...environment })
    this.usage = new Usage({ store: new UsageStore(database), clock })
    this.#owned.defer(() => this.usage.flush())
    for (const name of accounts.names) if (own && !own.includes(name)) this.give(name)
    const holds = holdsWithout(this.lost)
    const held = { find: (name: string) => (this.#given.has(name) ? undefined : accounts.find(name)) }
    const store = new DestinationStore(database, holds.nodeHold)
    const identities = new InboxIdentities({ store, downstream: helpdesk, clock, log: logs.log })
    const tenants = { find: () => Promise.resolve(undefined), findElsewhere: () => Promise.resolve([]) }
    const secrets = { find: () => Promise.resolve(undefined), findElsewhere: () => Promise.resolve([]) }
    const routing = new Routing({ tenants, standard: config.downstream, identities, secrets })
    const base = { config, clock, log: logs.log, database, holds, duties: allDuties }
    const counted = { metrics: this.metrics, usage: this.usage }
    const settingsOf = createSettingsOf(config, { find: (name) => accounts.find(name) })
    const both = { ...base, ...counted, traces: noTraces, settingsOf, routing, identities, downstream: helpdesk }
    this.inbound = createInbound({
      callOutcomeOf: () => Promise.resolve(undefined),
      ...both,
      instances: { find: (name) => accounts.find(name) as never, list: () => [] },
      network: { download: () => Promise.reject(new Error('no file')), unseal: () => null },
    })
    this.#owned.use(this.inbound.inbound)
    const sessionOf = (name: string) => accounts.find(name)?.session
    const subscriptions = new TypingSubscriptions({ sessionOf, clock, log: logs.log })
    this.outbound = createOutbound({
      ...both,
      people: this.inbound.people,
      conversations: this.inbound.conversations,
      choices: this.inbound.choices,
      lostCallbacks: this.inbound.lostCallbacks,
      accounts: held,
      roster: {
        find: (name) => accounts.find(name),
        findCurrent: (name) => Promise.resolve(accounts.find(name)),
        freshen: () => Promise.resolve(),
      },
      onSendStep,
      onOperationsMessage: () => undefined,
      onMembersAsked: () => undefined,
      onInboxRow: (name, id) => {
        this.inbound.inbound.acceptIfStored(name, id)
      },
      onLabelled: () => Promise.resolve(),
      activityListener: () => subscriptions,
      hasPeers: () => this.view.hasPeers,
      tellOwner: (name) => {
        this.view.tellOwner(name)
      },
      stack: this.#owned,
    })
    for (const worker of this.outbound.workers) this.#owned.use(worker)
  }

  /** Takes up what the process before it left. */
  static async start(world: World): Promise<BedProcess> {
    const process = new BedProcess(world)
    for (const name of world.held ?? world.accounts.names) {
      const parts: readonly PerInstance[] = [...process.inbound.perInstance, ...process.outbound.perInstance]
      for (const part of parts) await part.take?.(name)
    }
    for (const worker of process.outbound.workers) worker.start()
    return process
  }

  /** Another process holds the instance from now on. */
  give(name: string): void {
    this.lost.add(name)
    this.#given.add(name)
  }

  worker(name: string): Ticker {
    const found = this.outbound.workers.find((worker) => worker.name === name)
    if (!found) throw new Error(`there is no worker ${name}`)
    return found
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}
