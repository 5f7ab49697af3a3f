// Takes up inbox rows and has each of them delivered to the helpdesk. Every chat has a queue of its own. When an instance is
// taken, the worker starts with the rows that the inbox has stored.

import { chatJid } from '../../core/address.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { ChatQueues } from '../../lib/queues/chat-queues.ts'
import type { WorkOutcome } from '../../lib/queues/chat-queues.ts'
import type { Clock } from '../../lib/clock.ts'
import type { QueueItem } from '../../lib/queues/item-list.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import type { InboxCounts, InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { EventChat, EventContexts } from '../conversations/event-context.ts'
import type { GroupDirectory } from '../people/group-directory.ts'
import type { MergedPeople } from '../people/people.ts'
import type { EventDelivery } from './event-delivery.ts'
import type { ExactlyOncePoster } from './exactly-once-poster.ts'
import { isUnexplained } from './failure-policy.ts'
import type { ParkedRows } from './parked-rows.ts'

type Deps = {
  inbox: Pick<InboxStore, 'pending' | 'load'>
  parked: ParkedRows
  contexts: Pick<EventContexts, 'chatOf'>
  groups: Pick<GroupDirectory, 'forget'>
  directory: Pick<ConversationDirectory, 'merged'>
  delivery: Pick<EventDelivery, 'run'>
  poster: Pick<ExactlyOncePoster, 'flushed'>
  clock: Clock
  log: Log
}

/** An instance that is live in this process. `pending` counts its rows that are not off the inbox yet. */
type LiveInstance = { stopping: AbortController; pending: number; cancelTimers: Set<() => void> }

/** A row with its chat; null when storage refused to tell the chat. */
type QueuedRow = { row: InboxRow; chat: EventChat | null }

const pageSize = 500
/** How many rows stay in memory. The others are read again when their turn comes. */
const maxCachedRows = 1000
/** A message that could not be opened often comes again right away. */
const undecryptableMs = 10_000
/** How often storage may refuse the chat of a row before the row goes on without it. */
const maxRefusals = 2
const pauses = { firstMs: 500, ceilingMs: 30_000 }

export class InboxWorker implements PerInstance {
  readonly #deps: Deps
  readonly #queues: ChatQueues<QueuedRow>
  /** Keeps the rows of an instance in order until each is in the queue of its chat. */
  readonly #intake = new KeyedLanes()
  readonly #live = new Map<InstanceName, LiveInstance>()

  constructor(deps: Deps) {
    this.#deps = deps
    const work = (instance: InstanceName, item: QueueItem<QueuedRow>, signal: AbortSignal) =>
      this.#work(instance, item, signal)
    this.#queues = new ChatQueues({ clock: deps.clock, work, maxCached: maxCachedRows })
  }

  /** Takes up the stored rows. Must end before the instance receives anything new. */
  async take(instance: InstanceName): Promise<void> {
    const live = this.#liveOf(instance)
    live.pending = 0
    await this.#deps.parked.take(instance)
    for (let after = ''; ;) {
      const rows = await this.#deps.inbox.pending(instance, after, pageSize)
      for (const row of rows) await this.#takeUp(row, live)
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) return
      after = last.id
    }
  }

  /** Takes up a row that was just stored. */
  accept(row: InboxRow): void {
    const live = this.#liveOf(row.instance)
    void this.#intake.run(row.instance, () => this.#takeUp(row, live))
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

  queues(): { chats: number; longest: number } {
    const { chats, longest } = this.#queues.counts()
    return { chats, longest }
  }

  /** Tries every parked row of the instance again. Returns how many there are. */
  async retryParked(instance: InstanceName): Promise<number> {
    const { inbox, parked } = this.#deps
    const ids = await parked.unpark(instance)
    const live = this.#liveOf(instance)
    for (let from = 0; from < ids.length; from += pageSize) {
      const rows = await inbox.load(ids.slice(from, from + pageSize))
      for (const row of rows) await this.#intake.run(instance, () => this.#takeUp(row, live))
    }
    return ids.length
  }

  /** Ends the work on an instance. Its rows stay in the inbox. */
  async leave(instance: InstanceName): Promise<void> {
    const live = this.#live.get(instance)
    this.#live.delete(instance)
    if (!live) return
    stop(live)
    await this.#queues.leave(instance)
    await this.#deps.poster.flushed(instance)
    this.#deps.parked.leave(instance)
  }

  /** Ends between two messages. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const live of this.#live.values()) stop(live)
    await this.#queues.stop()
    for (const instance of this.#live.keys()) await this.#deps.poster.flushed(instance)
  }

  async #takeUp(row: InboxRow, live: LiveInstance): Promise<void> {
    if (live.stopping.signal.aborted) return
    live.pending++
    this.#forgetChangedGroup(row)
    const waitMs = row.receivedAt + undecryptableMs - this.#deps.clock.now()
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
    let attempts = 0
    const onFailure = (err: unknown) => {
      if (!signal.aborted) log.error({ err, instance }, 'a received message cannot be taken up yet')
    }
    return retryUntil({ clock, signal, pauses, onFailure }, async () => {
      attempts++
      try {
        return await contexts.chatOf(instance, event)
      } catch (error) {
        if (attempts <= maxRefusals || isStorageAway(error) || signal.aborted) throw error
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
    if (!live) return 'wait'
    const queued = item.row ?? (await this.#reload(item.id, signal))
    if (signal.aborted) return 'wait'
    const outcome = queued ? await this.#deps.delivery.run(queued.row, queued.chat, signal) : 'done'
    if (outcome === 'stopped') return 'wait'
    void this.#deps.poster.flushed(instance).then(() => live.pending--)
    return 'done'
  }

  /** Undefined when the row is gone, or the instance stops. */
  async #reload(id: RowId, signal: AbortSignal): Promise<QueuedRow | undefined> {
    const { inbox, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.error({ err }, 'a received message cannot be read yet')
    }
    const read = await retryUntil({ clock, signal, pauses, onFailure }, () => inbox.load([id]))
    const row = read?.value.at(0)
    return row && { row, chat: null }
  }

  #liveOf(instance: InstanceName): LiveInstance {
    return getOrCreate(this.#live, instance, () => ({
      stopping: new AbortController(),
      pending: 0,
      cancelTimers: new Set<() => void>(),
    }))
  }
}

function stop({ stopping, cancelTimers }: LiveInstance): void {
  stopping.abort()
  for (const cancel of cancelTimers) cancel()
}

function isStorageAway(error: unknown): boolean {
  return error instanceof StorageError && !isUnexplained(error)
}
