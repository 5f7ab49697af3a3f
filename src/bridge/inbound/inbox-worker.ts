// Takes up inbox rows and has each of them delivered to the helpdesk. Every chat has a queue of its own. When an instance is
// taken, the worker starts with the rows that the inbox has stored. It takes them up in the background: there may be many, and
// the service must answer callbacks meanwhile. Rows that are received meanwhile wait until the stored ones are in their queues.

import { chatJid } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { ChatQueues } from '../../lib/queues/chat-queues.ts'
import type { WorkOutcome } from '../../lib/queues/chat-queues.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { QueueItem } from '../../lib/queues/item-list.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { InboxCounts, InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { EventChat, EventContexts } from '../conversations/event-context.ts'
import type { GroupDirectory } from '../people/group-directory.ts'
import type { MergedPeople } from '../people/people.ts'
import type { EventDelivery } from './event-delivery.ts'
import type { ExactlyOncePoster } from '../posting/exactly-once-poster.ts'
import { isStorageAway } from './failure-policy.ts'
import { newLiveInstance, stopLive } from './live-instance.ts'
import type { LiveInstance } from './live-instance.ts'
import type { ParkedRows } from './parked-rows.ts'
import { RowInWork } from './row-in-work.ts'
import { StoredRows } from './stored-rows.ts'

type Deps = {
  inbox: Pick<InboxStore, 'pendingIds' | 'load' | 'newest' | 'counts'>
  parked: ParkedRows
  contexts: Pick<EventContexts, 'chatOf'>
  groups: Pick<GroupDirectory, 'forget'>
  directory: Pick<ConversationDirectory, 'merged'>
  delivery: Pick<EventDelivery, 'run'>
  poster: Pick<ExactlyOncePoster, 'flushed'>
  /** Called when the instance has more or fewer pending rows. */
  onCounted?: ((instance: InstanceName) => void) | undefined
  clock: Clock
  log: Log
}

/** A row with its chat; null when storage refused to tell the chat. */
type QueuedRow = { row: InboxRow; chat: EventChat | null }

/** How many rows stay in memory. The others are read again when their turn comes. */
const maxCachedRows = 1000
/** A message that could not be opened often comes again right away. */
const undecryptableMs = 10_000
/** How often storage may refuse the chat of a row before the row goes on without it. */
const maxRefusals = 2
/** How long a request to retry waits for the take-up before it. */
const retryMs = 10_000
const pauses = { firstMs: 500, ceilingMs: 30_000 }

export class InboxWorker implements PerInstance {
  readonly #deps: Deps
  readonly #queues: ChatQueues<QueuedRow>
  readonly #stored: StoredRows
  /** Keeps the rows of an instance in order until each is in the queue of its chat. */
  readonly #intake = new KeyedLanes()
  readonly #live = new Map<InstanceName, LiveInstance>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#stored = new StoredRows(deps)
    const work = (instance: InstanceName, item: QueueItem<QueuedRow>, signal: AbortSignal) =>
      this.#work(instance, item, signal)
    this.#queues = new ChatQueues({ clock: deps.clock, work, maxCached: maxCachedRows })
  }

  /** Begins to take up the stored rows. Must end before the instance receives anything new. */
  async take(instance: InstanceName): Promise<void> {
    const { inbox, parked } = this.#deps
    const counts = await inbox.counts(instance)
    const newest = counts.pending > 0 ? await inbox.newest(instance) : undefined
    const live = this.#liveOf(instance)
    parked.begin(instance, counts.parked)
    live.pending = counts.pending
    if (newest === undefined) return
    const rows = this.#stored.pending({ instance, newest }, live.stopping.signal)
    this.#beginTakeUp(instance, live, () => this.#takeUpAll(rows, live))
  }

  /** Takes up a row that was just stored. */
  accept(row: InboxRow): void {
    const { id, instance } = row
    const live = this.#liveOf(instance)
    this.#count(live, 1)
    // Many rows may be received while the stored ones are taken up. Each is read again in its turn.
    const kept = live.takingUp ? undefined : row
    void this.#intake.run(instance, () => (kept ? this.#takeUp(kept, live) : this.#takeUpStored(id, live)))
  }

  /** Takes up a row that is in the inbox if its commit succeeded. */
  acceptIfStored(instance: InstanceName, id: RowId): void {
    const live = this.#live.get(instance)
    // Without a live instance the row is taken up with the others, when the instance is taken.
    if (!live) return
    this.#count(live, 1)
    void this.#intake.run(instance, () => this.#takeUpStored(id, live))
  }

  /** Two records of a person became one, and so do the queues of the two chats. */
  merged(instance: InstanceName, { keep, drop }: MergedPeople): void {
    this.#deps.directory.merged(instance)
    this.#queues.merge(instance, keep, drop)
  }

  counts(): InboxCounts {
    const pending = [...this.#live.values()].reduce((sum, live) => sum + live.pending, 0)
    return { pending, parked: this.#deps.parked.count }
  }

  /** How many rows of the instance are not off the inbox yet. */
  pendingOf(instance: InstanceName): number {
    return this.#live.get(instance)?.pending ?? 0
  }

  queues(): { chats: number; longest: number } {
    const { chats, longest } = this.#queues.counts()
    return { chats, longest }
  }

  /** Tries every parked row of the instance again. Returns how many there are, as soon as all of them are pending. */
  async retryParked(instance: InstanceName): Promise<number> {
    const { parked, clock } = this.#deps
    const live = this.#liveOf(instance)
    const { promise: pending, resolve } = Promise.withResolvers<RowId[]>()
    // After the take-up before it. Otherwise a row that becomes pending now could be taken up twice.
    this.#beginTakeUp(instance, live, async () => {
      const unparked = parked.unpark(instance)
      resolve(unparked)
      const ids = await unparked.catch(() => [])
      this.#count(live, ids.length)
      await this.#takeUpAll(this.#stored.some(instance, ids, live.stopping.signal), live)
    })
    return (await withDeadline(clock, retryMs, pending, takesTooLong)).length
  }

  /** What is received from now on is only stored. */
  rest(instance: InstanceName): Promise<void> {
    return this.#queues.rest(instance)
  }

  /** Ends the work on an instance. Its rows stay in the inbox. */
  async leave(instance: InstanceName): Promise<void> {
    const live = this.#live.get(instance)
    this.#live.delete(instance)
    if (!live) return
    stopLive(live)
    await live.takingUp
    await this.#queues.leave(instance)
    await this.#deps.poster.flushed(instance)
    this.#deps.parked.leave(instance)
  }

  /** Ends between two messages. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const live of this.#live.values()) stopLive(live)
    for (const live of this.#live.values()) await live.takingUp
    await this.#queues.stop()
    for (const instance of this.#live.keys()) await this.#deps.poster.flushed(instance)
  }

  #count(live: LiveInstance, more: number): void {
    live.pending += more
    this.#deps.onCounted?.(live.name)
  }

  #beginTakeUp(instance: InstanceName, live: LiveInstance, work: () => Promise<void>): void {
    const takingUp = this.#intake.run(instance, work).finally(() => {
      if (live.takingUp === takingUp) live.takingUp = undefined
    })
    live.takingUp = takingUp
  }

  async #takeUpAll(rows: AsyncIterable<InboxRow | undefined>, live: LiveInstance): Promise<void> {
    for await (const row of rows) {
      if (row) await this.#takeUp(row, live)
      else this.#count(live, -1)
    }
  }

  async #takeUpStored(id: RowId, live: LiveInstance): Promise<void> {
    const row = await this.#stored.load(live.name, id, live.stopping.signal)
    if (row) await this.#takeUp(row, live)
    else this.#count(live, -1)
  }

  async #takeUp(row: InboxRow, live: LiveInstance): Promise<void> {
    if (live.stopping.signal.aborted) return
    this.#forgetChangedGroup(row)
    // A row of a clock that was ahead waits no longer than any other.
    const waitMs = Math.min(row.receivedAt + undecryptableMs - this.#deps.clock.now(), undecryptableMs)
    if (row.event.kind === 'undecryptable' && waitMs > 0) this.#queueLater(row, live, waitMs)
    else await this.#queue(row, live.stopping.signal)
  }

  #queueLater(row: InboxRow, { cancelTimers, stopping }: LiveInstance, waitMs: number): void {
    const cancel = this.#deps.clock.after(waitMs, () => {
      cancelTimers.delete(cancel)
      void this.#intake.run(row.instance, () => this.#queue(row, stopping.signal))
    })
    cancelTimers.add(cancel)
  }

  /** Puts the row into the queue of its chat. When the instance stops, the row stays in the inbox. */
  async #queue(row: InboxRow, signal: AbortSignal): Promise<void> {
    const { instance, event, id } = row
    const found = await this.#chatOf(row, signal)
    if (!found || signal.aborted) return
    const chat = found.value
    // A row without a chat gets a queue of its own: it is parked after a while, and no other row waits for it.
    const chatId = chat?.chatId ?? chatJid(event.chat)
    if (event.kind === 'undecryptable') this.#queues.push(instance, chatId, { id, row: { row, chat } })
    else this.#queues.insert(instance, chatId, { id, row: { row, chat } })
  }

  /** Waits for storage that is away, because order matters. Null when storage refuses the row itself. */
  #chatOf({ instance, event }: InboxRow, signal: AbortSignal): Promise<{ value: EventChat | null } | undefined> {
    const { contexts, clock, log } = this.#deps
    let refusals = 0
    const onFailure = (err: unknown) => {
      if (!signal.aborted) log.error({ err, instance }, 'a received message cannot be taken up yet')
    }
    return retryUntil({ clock, signal, pauses, onFailure }, async () => {
      try {
        return await contexts.chatOf(instance, event)
      } catch (error) {
        if (isStorageAway(error) || ++refusals <= maxRefusals || signal.aborted) throw error
        onFailure(error)
        return null
      }
    })
  }

  #forgetChangedGroup({ instance, event }: InboxRow): void {
    if (event.kind === 'group' && event.chat.kind === 'group') this.#deps.groups.forget(instance, event.chat.id)
  }

  async #work(instance: InstanceName, item: QueueItem<QueuedRow>, signal: AbortSignal): Promise<WorkOutcome> {
    const live = this.#live.get(instance)
    if (!live || signal.aborted) return 'wait'
    const outcome = await this.#deps.delivery.run(this.#rowInWork(instance, item, live, signal), signal)
    if (outcome === 'stopped') return 'wait'
    void this.#deps.poster.flushed(instance).then(() => {
      this.#count(live, -1)
    })
    return 'done'
  }

  /**
   * Thousands of deliveries may wait. Each of them keeps only the id of its row. Not a part of `#work`: a function that waits
   * keeps its variables in memory.
   */
  #rowInWork(instance: InstanceName, item: QueueItem<QueuedRow>, live: LiveInstance, signal: AbortSignal): RowInWork {
    const { places } = live
    const { id } = item
    const { row = null, chat = null } = (places.isFull ? null : item.row) ?? {}
    item.row = null
    const load = () => this.#stored.load(instance, id, signal)
    return new RowInWork({ instance, row, chat, load, places }, signal)
  }

  #liveOf(instance: InstanceName): LiveInstance {
    return getOrCreate(this.#live, instance, () => newLiveInstance(instance))
  }
}

function takesTooLong(): BridgeError {
  const sentence = 'the instance still takes up its stored messages, try again in some seconds'
  return new BridgeError('SERVICE_OVERLOADED', sentence)
}
