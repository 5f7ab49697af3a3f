// The queues of one instance: starts them, works off their rows, and ends them.

import type { Clock } from '../clock.ts'
import { getOrCreate } from '../keyed.ts'
import { homeOf, idsOf, lengthOf, mergeChatQueues, newChatQueue } from './chat-queue.ts'
import type { ChatQueue } from './chat-queue.ts'
import type { QueueItem } from './item-list.ts'
import { MergedKeys } from './merged-keys.ts'
import type { RowCache } from './row-cache.ts'

/**
 * done: take the next row · wait: rest until the queue is woken · until: rest until that time · ending: take the next row while
 * the end of this one is being stored.
 */
export type WorkOutcome = 'done' | 'wait' | { until: number } | { ending: Promise<RowEnd> }
/** again: the end could not be stored, so the row goes back to its queue. */
export type RowEnd = 'done' | 'again'

export type QueueDeps<Row> = {
  clock: Clock
  /** Must not reject. The signal aborts when the instance leaves and when the queues stop. */
  work: (instance: string, item: QueueItem<Row>, signal: AbortSignal) => Promise<WorkOutcome>
  /** Called with the ids of a queue when the queue comes to rest. */
  onResting?: (ids: readonly string[]) => void
  /** Called when the instance has more or fewer rows than before. */
  onCounted?: ((instance: string) => void) | undefined
}

type Deps<Row> = QueueDeps<Row> & {
  instance: string
  cache: RowCache<Row>
  /** The unfinished work of the same instance from before it left. */
  unfinished: () => Promise<unknown> | undefined
}

export class InstanceQueues<Row> {
  readonly #deps: Deps<Row>
  readonly #chats = new Map<string, ChatQueue<Row>>()
  /** A caller that decided on a chat before a merge may push a row after it. */
  readonly #merged = new MergedKeys()
  readonly #running = new Set<Promise<undefined>>()
  /** The rows whose end is being stored. */
  readonly #ending = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()
  /** No further row is taken up. */
  #isResting = false
  #rows = 0

  constructor(deps: Deps<Row>) {
    this.#deps = deps
  }

  get rows(): number {
    return this.#rows
  }

  get chats(): number {
    return this.#chats.size
  }

  get longest(): number {
    let longest = 0
    for (const queue of this.#chats.values()) longest = Math.max(longest, lengthOf(queue))
    return longest
  }

  get ids(): Set<string> {
    return new Set([...this.#ending.keys(), ...[...this.#chats.values()].flatMap(idsOf)])
  }

  isFree(chatId: string): boolean {
    return !this.#isResting && !this.#chats.has(this.#merged.currentOf(chatId))
  }

  add(chatId: string, item: QueueItem<Row>): void {
    this.#queueFor(chatId).waiting.push(this.#deps.cache.keep(item))
  }

  insert(chatId: string, item: QueueItem<Row>, isLater?: (id: string) => boolean): void {
    this.#queueFor(chatId).waiting.insert(this.#deps.cache.keep(item), isLater)
  }

  remove(id: string): void {
    for (const queue of this.#chats.values()) {
      const removed = queue.waiting.remove(id)
      if (removed) {
        this.#count(-1)
        this.#deps.cache.release([removed.item])
      }
      // The row behind the removed one need not rest.
      const isFirst = removed?.isFirst === true && queue.current === undefined
      if (isFirst || queue.current?.id === id) this.#start(queue)
      if (removed) return
    }
  }

  merge(keepChatId: string, dropChatId: string): void {
    this.#merged.merge(keepChatId, dropChatId)
    const drop = this.#chats.get(dropChatId)
    if (!drop || keepChatId === dropChatId) return
    this.#chats.delete(dropChatId)
    const keep = this.#queueOf(this.#merged.currentOf(keepChatId))
    mergeChatQueues(keep, drop)
    this.#start(keep)
  }

  start(chatId: string): void {
    const queue = this.#chats.get(this.#merged.currentOf(chatId))
    if (queue) this.#start(queue)
  }

  wake(): void {
    for (const queue of this.#chats.values()) this.#start(queue)
  }

  async rest(): Promise<void> {
    this.#isResting = true
    await this.#underWay()
  }

  /** Forgets the rows. Resolves when the work under way has ended. */
  async end(): Promise<void> {
    this.#stop.abort()
    for (const { cancelTimer, waiting } of this.#chats.values()) {
      cancelTimer?.()
      this.#deps.cache.release(waiting.takeAll())
    }
    await this.#underWay()
  }

  async #underWay(): Promise<void> {
    await Promise.all(this.#running)
    await Promise.all(this.#ending.values())
  }

  /** The queue of a row that is about to be put into it. */
  #queueFor(chatId: string): ChatQueue<Row> {
    this.#count(1)
    return this.#queueOf(this.#merged.currentOf(chatId))
  }

  #queueOf(chatId: string): ChatQueue<Row> {
    return getOrCreate(this.#chats, chatId, () => newChatQueue<Row>(chatId, this.#deps.unfinished()))
  }

  #count(more: 1 | -1): void {
    this.#rows += more
    this.#deps.onCounted?.(this.#deps.instance)
  }

  #start(queue: ChatQueue<Row>): void {
    queue.cancelTimer?.()
    queue.isWoken = true
    if (queue.running || this.#stop.signal.aborted) return
    if (this.#isResting) {
      this.#deps.onResting?.(idsOf(queue))
      return
    }
    const { promise: running, resolve } = Promise.withResolvers<undefined>()
    // Before the work begins, because the work may push rows.
    queue.running = running
    this.#running.add(running)
    void this.#run(queue).finally(() => {
      this.#running.delete(running)
      resolve(undefined)
    })
  }

  async #run(queue: ChatQueue<Row>): Promise<void> {
    let outcome: WorkOutcome = 'done'
    while (queue.isWoken && !this.#isOver) {
      queue.isWoken = false
      outcome = await this.#workOff(queue)
    }
    queue.running = undefined
    if (lengthOf(queue) === 0) {
      if (this.#chats.get(queue.chatId) === queue) this.#chats.delete(queue.chatId)
    } else if (this.#isResting) this.#deps.onResting?.(idsOf(queue))
    else if (typeof outcome === 'object' && 'until' in outcome) this.#startAt(queue, outcome.until)
  }

  /** Until a row has to wait, or none is left. */
  async #workOff(queue: ChatQueue<Row>): Promise<WorkOutcome> {
    const { signal } = this.#stop
    for (;;) {
      // Another merge may add work while this one is awaited.
      while (queue.before.length > 0) await Promise.all(queue.before.splice(0))
      queue.absorbed.length = 0
      const item = this.#isOver ? undefined : queue.waiting.takeFirst()
      if (!item) return 'done'
      this.#deps.cache.release([item])
      queue.current = item
      const outcome = await this.#deps.work(this.#deps.instance, item, signal)
      queue.current = undefined
      if (outcome === 'done') this.#count(-1)
      else if (typeof outcome === 'object' && 'ending' in outcome)
        this.#ending.set(item.id, this.#follow(queue.chatId, item.id, outcome.ending))
      else if (!signal.aborted) return this.#putBack(queue, item.id, outcome)
    }
  }

  get #isOver(): boolean {
    return this.#stop.signal.aborted || this.#isResting
  }

  async #follow(chatId: string, id: string, ending: Promise<RowEnd>): Promise<void> {
    const end = await ending
    this.#ending.delete(id)
    if (end === 'done') {
      this.#count(-1)
      return
    }
    const queue = this.#queueOf(this.#merged.currentOf(chatId))
    queue.waiting.insert({ id, row: null })
    this.#start(queue)
  }

  #putBack(queue: ChatQueue<Row>, id: string, outcome: WorkOutcome): WorkOutcome {
    const home = homeOf(queue)
    if (home !== queue) {
      home.waiting.insert({ id, row: null })
      return 'done'
    }
    queue.waiting.putFirst({ id, row: null })
    this.#deps.onResting?.(idsOf(queue))
    return outcome
  }

  #startAt(queue: ChatQueue<Row>, time: number): void {
    const { clock } = this.#deps
    queue.cancelTimer = clock.after(Math.max(0, time - clock.now()), () => {
      this.#start(queue)
    })
  }
}
