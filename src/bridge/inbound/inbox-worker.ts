// What arrives, on its way to the helpdesk: every chat in a lane of its own, at boot with what the inbox still holds.

import { chatJid } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { PersonNames, PersonPair, ReceivedRow, Reception } from '../../core/network.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import type { InboxCounts, InboxRow, InboxStore, ParkedRow } from '../../storage/stores/messages/inbox-store.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import type { HeldDestinations, HeldDestination } from './held-destinations.ts'
import type { GroupDirectory } from '../people/group-directory.ts'
import type { EventDelivery } from './event-delivery.ts'
import { isUnexplained } from './failure-policy.ts'
import { InboundLanes } from './chat-queues.ts'
import type { QueuedRow } from './chat-queues.ts'
import type { EventContexts } from '../conversations/event-context.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import type { People } from '../people/people.ts'

type Deps = {
  inbox: InboxStore
  people: People
  contexts: EventContexts
  groups: GroupDirectory
  directory: ConversationDirectory
  delivery: EventDelivery
  held: HeldDestinations
  report: InboundMetrics
  epoch: () => number
  clock: Clock
  log: Log
}

type Stay = { controller: AbortController; pending: number; parked: number; cancelLater: Set<() => void> }

const pageSize = 500
/** More received rows than this are not held in memory but read again when it is their turn. */
const maxHeldRows = 1000
/** What cannot be opened often comes again right away. */
const undecryptableMs = 10_000
const maxListed = 500
/** How often storage may refuse what a message says before the others go on without it. */
const maxRefusals = 2

export class InboxWorker implements Reception, PerInstance {
  readonly #deps: Deps
  readonly #lanes: InboundLanes
  readonly #intake = new KeyedLanes()
  readonly #stays = new Map<string, Stay>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#lanes = new InboundLanes({ work: (instance, queued) => this.#work(instance, queued), maxHeld: maxHeldRows })
  }

  /** Takes up what the inbox holds of this instance; before it may receive anything new. */
  async take(instance: string): Promise<void> {
    const stay = this.#stayOf(instance)
    Object.assign(stay, { pending: 0, parked: (await this.#deps.inbox.counts(instance)).parked })
    for (let after = ''; ;) {
      const rows = await this.#deps.inbox.pending(instance, after, pageSize)
      for (const row of rows) await this.#take(row, stay)
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) return
      after = last.id
    }
  }

  onReceived(instance: string, rows: readonly ReceivedRow[]): void {
    const stay = this.#stayOf(instance)
    for (const { id, event, receivedAt } of rows) {
      this.#deps.report.received(instance, event)
      const row = { id, instance, event, receivedAt, attempts: 0, kind: event.kind, lastError: null }
      void this.#intake.run(instance, () => this.#take(row, stay))
    }
  }

  onNames(instance: string, names: readonly PersonNames[]): void {
    this.#aside(instance, async () => {
      for (const each of names) await this.#deps.people.applyNames(instance, each)
    })
  }

  onPairs(instance: string, pairs: readonly PersonPair[]): void {
    this.#aside(instance, async () => {
      for (const pair of pairs) {
        if (await this.#deps.people.lookUp(instance, pair)) await this.#deps.people.upsert(instance, pair)
      }
    })
  }

  onPassedOver(instance: string, kind: string): void {
    this.#deps.report.passedOver(instance, kind)
  }

  onRepeated(instance: string): void {
    this.#deps.report.duplicate(instance, 'redelivered')
  }

  /** Two records of a person became one: so do the lanes, and what is remembered of either is out of date. */
  joined(instance: string, { keep, drop }: { keep: string; drop: string }): void {
    this.#deps.directory.clear(instance)
    this.#lanes.merge(laneKey(instance, keep), laneKey(instance, drop))
  }

  /** Another destination may be in force: whoever waits for the old one looks again. */
  routingChanged(): void {
    this.#deps.held.releaseAll()
  }

  counts(): InboxCounts {
    const stays = [...this.#stays.values()]
    return {
      pending: stays.reduce((sum, { pending }) => sum + pending, 0),
      parked: stays.reduce((sum, { parked }) => sum + parked, 0),
    }
  }

  get lanes(): { count: number; longest: number } {
    const { count, longest } = this.#lanes
    return { count, longest }
  }

  held(): HeldDestination[] {
    return this.#deps.held.list()
  }

  parked(instance: string): Promise<ParkedRow[]> {
    return this.#deps.inbox.parked(instance, maxListed)
  }

  /** Everything parked of this instance is tried again; how many it are. */
  async retryParked(instance: string): Promise<number> {
    const { inbox, epoch } = this.#deps
    const ids = await inbox.retryParked(epoch(), instance)
    const stay = this.#stayOf(instance)
    stay.parked = Math.max(0, stay.parked - ids.length)
    for (let from = 0; from < ids.length; from += pageSize) {
      const rows = await inbox.load(ids.slice(from, from + pageSize))
      for (const row of rows) await this.#intake.run(instance, () => this.#take(row, stay))
    }
    return ids.length
  }

  async removeParked(instance: string, id: string): Promise<void> {
    const { inbox, epoch } = this.#deps
    if (!(await inbox.removeParked(epoch(), instance, id))) {
      throw new BridgeError('SERVICE_PARKED_NOT_FOUND', `${JSON.stringify(instance)} has no parked message of that id`)
    }
    const stay = this.#stayOf(instance)
    stay.parked = Math.max(0, stay.parked - 1)
  }

  /** Lets go of an instance; what the inbox holds of it stays there. */
  async leave(instance: string): Promise<void> {
    const stay = this.#stays.get(instance)
    this.#stays.delete(instance)
    if (!stay) return
    stay.controller.abort()
    for (const cancel of stay.cancelLater) cancel()
    await this.#lanes.drop(instance)
    this.#deps.held.leave(instance)
    await this.#deps.delivery.flushed(instance)
  }

  /** Ends between two messages. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { controller, cancelLater } of this.#stays.values()) {
      controller.abort()
      for (const cancel of cancelLater) cancel()
    }
    await this.#lanes.stop()
    for (const instance of this.#stays.keys()) await this.#deps.delivery.flushed(instance)
  }

  async #take(row: InboxRow, stay: Stay): Promise<void> {
    const { signal } = stay.controller
    if (signal.aborted) return
    stay.pending++
    this.#followGroup(row)
    const waitMs = row.receivedAt + undecryptableMs - this.#deps.clock.now()
    if (row.event.kind === 'undecryptable' && waitMs > 0) this.#takeLater(row, stay, waitMs)
    else await this.#queue(row, signal)
  }

  #takeLater(row: InboxRow, stay: Stay, waitMs: number): void {
    const { clock } = this.#deps
    const cancel = clock.after(waitMs, () => {
      stay.cancelLater.delete(cancel)
      void this.#intake.run(row.instance, () => this.#queue(row, stay.controller.signal))
    })
    stay.cancelLater.add(cancel)
  }

  /**
   * Into the lane of its chat. Storage that is away is waited for: the row is safe, and order matters. What storage does
   * not take gets a lane of its own, where it is set aside after a while: nobody else waits for it.
   */
  async #queue(row: InboxRow, signal: AbortSignal): Promise<void> {
    const { contexts, clock, log } = this.#deps
    // When it is, the row stays where it is stored.
    const isOver = () => signal.aborted
    for (let failures = 0; !isOver(); failures++) {
      try {
        const chat = await contexts.chatOf(row.instance, row.event)
        if (!isOver()) this.#lanes.push(laneKey(row.instance, chat), row, row.event.kind === 'undecryptable')
        return
      } catch (err) {
        if (isOver()) return
        log.error({ err, instance: row.instance }, 'a received message cannot be taken up yet')
        if (failures >= maxRefusals && !isStorageAway(err)) {
          this.#lanes.push(laneKey(row.instance, chatJid(row.event.chat)), row)
          return
        }
        await sleep(clock, backoffMs(failures, { firstMs: 500, ceilingMs: 30_000 }), signal)
      }
    }
  }

  #followGroup({ instance, event }: InboxRow): void {
    if (event.kind === 'group' && event.chat.kind === 'group') this.#deps.groups.forget(instance, event.chat.id)
  }

  async #work(instance: string, queued: QueuedRow): Promise<void> {
    const stay = this.#stays.get(instance)
    if (!stay || stay.controller.signal.aborted) return
    const row = queued.row ?? (await this.#reload(queued.id, stay.controller.signal))
    const ended = row ? await this.#deps.delivery.run(row, stay.controller.signal) : 'done'
    if (ended === 'stopped') return
    if (ended === 'parked') stay.parked++
    void this.#deps.delivery.flushed(instance).then(() => stay.pending--)
  }

  /** Undefined when the row is gone, or we are to stop. */
  async #reload(id: string, signal: AbortSignal): Promise<InboxRow | undefined> {
    const { inbox, clock, log } = this.#deps
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return (await inbox.load([id])).at(0)
      } catch (err) {
        log.error({ err }, 'a received message cannot be read yet')
        await sleep(clock, backoffMs(failures, { firstMs: 500, ceilingMs: 30_000 }), signal)
      }
    }
    return undefined
  }

  #stayOf(instance: string): Stay {
    const known = this.#stays.get(instance)
    if (known) return known
    const stay = { controller: new AbortController(), pending: 0, parked: 0, cancelLater: new Set<() => void>() }
    this.#stays.set(instance, stay)
    return stay
  }

  /** Best effort: nothing is lost that would not come again. */
  #aside(instance: string, work: () => Promise<void>): void {
    this.#intake.run(`names|${instance}`, work).catch((err: unknown) => {
      this.#deps.log.warn({ err, instance }, 'names were not noted')
    })
  }
}

function isStorageAway(error: unknown): boolean {
  return error instanceof StorageError && !isUnexplained(error)
}

function laneKey(instance: string, chat: string): string {
  return `${instance}|${chat}`
}
