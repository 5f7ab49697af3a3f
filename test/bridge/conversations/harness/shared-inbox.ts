// Several processes that share a database and an inbox of the simulated helpdesk. Each has its own connections and memory.

import { calm } from '../../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import { createSettingsOf } from '../../../../src/app/settings-of.ts'
import { ContactJoin } from '../../../../src/bridge/conversations/contact-join.ts'
import { ConversationOpener } from '../../../../src/bridge/conversations/conversation-opener.ts'
import type { HelpdeskTarget } from '../../../../src/bridge/conversations/conversation-opener.ts'
import { MergeGate } from '../../../../src/bridge/conversations/merge-gate.ts'
import { OpeningClaims } from '../../../../src/bridge/conversations/opening-claims.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import { DownstreamError } from '../../../../src/core/downstream.ts'
import type { HelpdeskInbox } from '../../../../src/core/downstream.ts'
import { sleep, systemClock } from '../../../../src/lib/clock.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import type { EngineName } from '../../../../src/storage/database.ts'
import { LeaseStore } from '../../../../src/storage/stores/lease-store.ts'
import { ContactStore } from '../../../../src/storage/stores/people/contact-store.ts'
import { OpeningStore } from '../../../../src/storage/stores/people/opening-store.ts'
import { createDownstream, person } from '../../../downstream/harness/helpdesk-bed.ts'
import { migratedLocation } from '../../../harness/databases.ts'
import type { TestLocation } from '../../../harness/databases.ts'
import { destinationOf } from '../../../harness/destination.ts'
import { holds } from '../../../harness/holds.ts'
import { openOwnDatabase } from '../../../harness/lease-holds.ts'

const lateCommitMs = 20_000

export class SharedInbox {
  readonly helpdesk: SimHelpdesk
  readonly #place: TestLocation
  readonly #owned: AsyncDisposableStack

  private constructor(helpdesk: SimHelpdesk, place: TestLocation, owned: AsyncDisposableStack) {
    this.helpdesk = helpdesk
    this.#place = place
    this.#owned = owned
  }

  static async open(engine: EngineName): Promise<SharedInbox> {
    await using stack = new AsyncDisposableStack()
    const place = stack.use(await migratedLocation(engine))
    const helpdesk = stack.use(await SimHelpdesk.start({ seed: 'shared', quirks: calm }))
    return new SharedInbox(helpdesk, place, stack.move())
  }

  get destination() {
    return destinationOf(this.helpdesk)
  }

  /** A process that is not guarded stores no claim before it opens a conversation. */
  async process(clock: Clock = systemClock, { isGuarded = true } = {}): Promise<SharingProcess> {
    const database = this.#owned.use(await openOwnDatabase(this.#place.location))
    // The first process creates the lease that all writes of the test carry.
    await new LeaseStore(database).acquire('test', 3_600_000)
    const downstream = this.#owned.use(createDownstream())
    const store = new ContactStore(database)
    const gate = new MergeGate()
    const guarded = new OpeningClaims({ openings: new OpeningStore(database), ...holds, clock, lateCommitMs })
    const claims: Pick<OpeningClaims, 'run'> = isGuarded ? guarded : { run: (_, work) => work(() => Promise.resolve()) }
    const config = loadConfig({ DATABASE_URL: 'file:./x.db' })
    const settingsOf = createSettingsOf(config, { find: () => ({ record: { ownSettings: {} } }) })
    const opener = new ConversationOpener({ store, claims, gate, ...holds, clock, settingsOf })
    const join = new ContactJoin({ store, gate, ...holds, clock, lateCommitMs })
    const target = { instance: 'a', destination: this.destination, helpdesk: downstream.helpdesk(this.destination) }
    return new SharingProcess({ store, opener, join, target: { ...target, onStep: () => undefined } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

type Parts = { store: ContactStore; opener: ConversationOpener; join: ContactJoin; target: HelpdeskTarget }

export class SharingProcess {
  readonly store: ContactStore
  readonly join: ContactJoin
  readonly target: HelpdeskTarget
  readonly #opener: ConversationOpener

  constructor({ store, opener, join, target }: Parts) {
    this.store = store
    this.join = join
    this.target = target
    this.#opener = opener
  }

  /** Opens a conversation for the account, and returns its id. `changes` replace calls of the helpdesk. */
  async open(instance: string, changes: Partial<HelpdeskInbox> = {}): Promise<number> {
    const { destination, helpdesk } = this.target
    const key = { instance, destination: destination.key, chat: `chat of ${instance}` }
    const called = new Proxy(helpdesk, {
      get: (inbox, name: keyof HelpdeskInbox) => changes[name] ?? (inbox[name] as () => unknown).bind(inbox),
    })
    const { known } = await this.#opener.open(key, person(), { ...this.target, instance, helpdesk: called })
    return known.conversationId
  }

  /** Opens a conversation for the history of the account, and returns its id. */
  async openPending(instance: string): Promise<number | undefined> {
    const key = { instance, destination: this.target.destination.key, chat: `chat of ${instance}` }
    const made = await this.#opener.openPending(key, person(), 'mark', { ...this.target, instance })
    return made?.known.conversationId
  }

  /** As the inbox worker does: after a passing failure it tries again. */
  async openAtLast(instance: string): Promise<number> {
    for (;;) {
      try {
        return await this.open(instance)
      } catch (error) {
        if (!(error instanceof DownstreamError) || error.failure !== 'transient') throw error
        await sleep(systemClock, 50)
      }
    }
  }
}
