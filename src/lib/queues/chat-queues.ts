// One queue per chat: the rows of a chat are worked on one after the other, the chats side by side.
//
// A queue is running while its first row is being worked on, and resting while its first row has to wait. An empty queue is
// removed. `push` and `insert` start a queue, `add` leaves it as it is. The work on a row answers `done`, `wait` or a time:
// the queue takes the next row, rests until it is woken, or rests until that time. Or it answers that the end of the row is
// being stored: the queue takes the next row meanwhile.
//
// An item carries its row, or only the id: then the work reads the row. The row is handed over once. After a rest the item
// carries only the id, because the stored row may have changed meanwhile.

import { getOrCreate } from '../keyed.ts'
import { InstanceQueues } from './instance-queues.ts'
import type { QueueDeps } from './instance-queues.ts'
import type { QueueItem } from './item-list.ts'
import { RowCache } from './row-cache.ts'

export type { RowEnd, WorkOutcome } from './instance-queues.ts'

type Deps<Row> = QueueDeps<Row> & {
  /** How many rows may stay in memory over all queues. Above this number an item keeps only its id. */
  maxCached?: number
}

export class ChatQueues<Row> {
  readonly #deps: Deps<Row>
  readonly #cache: RowCache<Row>
  readonly #instances = new Map<string, InstanceQueues<Row>>()
  /** The unfinished work of instances that left. An instance may come back before that work has ended. */
  readonly #leaving = new Map<string, Promise<unknown>>()
  #isStopped = false

  constructor(deps: Deps<Row>) {
    this.#deps = deps
    this.#cache = new RowCache(deps.maxCached ?? Infinity)
  }

  /** Over all instances. A row that is being worked on counts. */
  counts(): { rows: number; chats: number; longest: number } {
    const counts = { rows: 0, chats: 0, longest: 0 }
    for (const { rows, chats, longest } of this.#instances.values()) {
      counts.rows += rows
      counts.chats += chats
      counts.longest = Math.max(counts.longest, longest)
    }
    return counts
  }

  size(instance: string): number {
    return this.#instances.get(instance)?.rows ?? 0
  }

  /** The rows that wait or are being worked on. */
  ids(instance: string): Set<string> {
    return this.#instances.get(instance)?.ids ?? new Set()
  }

  /** Whether a row that is pushed now is the next one to be worked on. */
  isFree(instance: string, chatId: string): boolean {
    if (this.#isStopped || this.#leaving.has(instance)) return false
    return this.#instances.get(instance)?.isFree(chatId) ?? true
  }

  /** Puts the row last. */
  push(instance: string, chatId: string, item: QueueItem<Row>): void {
    this.add(instance, chatId, item)
    this.#instances.get(instance)?.start(chatId)
  }

  /** Puts the row last. A queue that rests goes on resting until it is woken. */
  add(instance: string, chatId: string, item: QueueItem<Row>): void {
    this.#queuesOf(instance).add(chatId, item)
  }

  /** Puts the row before those that are later: by their ids, unless the caller knows the order. */
  insert(instance: string, chatId: string, item: QueueItem<Row>, isLater?: (id: string) => boolean): void {
    this.#queuesOf(instance).insert(chatId, item, isLater)
    this.#instances.get(instance)?.start(chatId)
  }

  /** Takes out a row that needs no work any more. A row that is being worked on stays, and is not left resting. */
  remove(instance: string, id: string): void {
    this.#instances.get(instance)?.remove(id)
  }

  /** Two chats turned out to be one: their rows become one queue in the order of ids. */
  merge(instance: string, keepChatId: string, dropChatId: string): void {
    this.#queuesOf(instance).merge(keepChatId, dropChatId)
  }

  /** Every queue of the instance tries its first row again. */
  wake(instance: string): void {
    this.#instances.get(instance)?.wake()
  }

  /** Takes up no further row of the instance until it has left. Resolves when the work under way has ended. */
  async rest(instance: string): Promise<void> {
    await this.#queuesOf(instance).rest()
  }

  /** Forgets the rows of the instance. Resolves when the work under way has ended. */
  async leave(instance: string): Promise<void> {
    const queues = this.#instances.get(instance)
    const earlier = this.#leaving.get(instance)
    if (!queues) {
      await earlier
      return
    }
    this.#instances.delete(instance)
    const ended = Promise.all([earlier, queues.end()])
    this.#leaving.set(instance, ended)
    await ended
    if (this.#leaving.get(instance) === ended) this.#leaving.delete(instance)
  }

  /** Takes up no further row. Resolves when the work under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#leaving.values(), ...[...this.#instances.values()].map((queues) => queues.end())])
  }

  #queuesOf(instance: string): InstanceQueues<Row> {
    return getOrCreate(this.#instances, instance, () => {
      const unfinished = () => this.#leaving.get(instance)
      const queues = new InstanceQueues({ ...this.#deps, instance, cache: this.#cache, unfinished })
      // What comes after the stop is only kept.
      if (this.#isStopped) void queues.end()
      return queues
    })
  }
}
