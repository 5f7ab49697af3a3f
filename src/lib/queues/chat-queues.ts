// One queue per chat: the rows of a chat are worked on one after the other, the chats side by side.
//
// A queue is running while its first row is being worked on, and resting while its first row has to wait. An empty queue is
// removed. `push` and `insert` start a queue, `add` leaves it as it is. The work on a row answers `done`, `wait` or a time:
// the queue takes the next row, rests until it is woken, or rests until that time.
//
// An item carries its row, or only the id: then the work reads the row. The row is handed over once. After a rest the item
// carries only the id, because the stored row may have changed meanwhile.

import type { Clock } from '../clock.ts'
import { ItemList } from './item-list.ts'
import type { QueueItem } from './item-list.ts'
import { getOrCreate } from '../keyed.ts'
import { MergedKeys } from './merged-keys.ts'

/** done: take the next row · wait: rest until the queue is woken · until: rest until that time. */
export type WorkOutcome = 'done' | 'wait' | { until: number }

type Deps<Row> = {
  clock: Clock
  /** Must not reject. The signal aborts when the instance leaves and when the queues stop. */
  work: (instance: string, item: QueueItem<Row>, signal: AbortSignal) => Promise<WorkOutcome>
  /** Called with the ids of a queue when the queue comes to rest. */
  onResting?: (ids: readonly string[]) => void
  /** Called when the instance has more or fewer rows than before. */
  onCounted?: ((instance: string) => void) | undefined
  /** How many rows may stay in memory over all queues. Above this number an item keeps only its id. */
  maxCached?: number
}

type Queue<Row> = {
  chatId: string
  waiting: ItemList<Row>
  current?: QueueItem<Row> | undefined
  running?: Promise<undefined> | undefined
  /** A start was asked for since the running work began. */
  isWoken: boolean
  cancelTimer?: () => void
  /** Work that must end before this queue takes its next row. */
  before: Promise<unknown>[]
  /** Merged queues whose work may still be under way. */
  absorbed: Queue<Row>[]
  mergedInto?: Queue<Row>
}

type InstanceQueues<Row> = {
  instance: string
  chats: Map<string, Queue<Row>>
  /** A caller that decided on a chat before a merge may push a row after it. */
  merged: MergedKeys
  rows: number
  running: Set<Promise<undefined>>
  /** No further row is taken up. */
  isResting: boolean
  stop: AbortController
}

export class ChatQueues<Row> {
  readonly #deps: Deps<Row>
  readonly #instances = new Map<string, InstanceQueues<Row>>()
  /** The unfinished work of instances that left. An instance may come back before that work has ended. */
  readonly #leaving = new Map<string, Promise<unknown>>()
  #cached = 0
  #isStopped = false

  constructor(deps: Deps<Row>) {
    this.#deps = deps
  }

  /** Over all instances. A row that is being worked on counts. */
  counts(): { rows: number; chats: number; longest: number } {
    const counts = { rows: 0, chats: 0, longest: 0 }
    for (const { rows, chats } of this.#instances.values()) {
      counts.rows += rows
      counts.chats += chats.size
      for (const queue of chats.values()) counts.longest = Math.max(counts.longest, lengthOf(queue))
    }
    return counts
  }

  size(instance: string): number {
    return this.#instances.get(instance)?.rows ?? 0
  }

  /** The rows that wait or are being worked on. */
  ids(instance: string): Set<string> {
    const queues = [...(this.#instances.get(instance)?.chats.values() ?? [])]
    return new Set(queues.flatMap(idsOf))
  }

  /** Whether a row that is pushed now is the next one to be worked on. */
  isFree(instance: string, chatId: string): boolean {
    if (this.#isStopped || this.#leaving.has(instance)) return false
    const of = this.#instances.get(instance)
    return of === undefined || !(of.isResting || of.chats.has(of.merged.currentOf(chatId)))
  }

  /** Puts the row last. */
  push(instance: string, chatId: string, item: QueueItem<Row>): void {
    this.add(instance, chatId, item)
    this.#startChat(instance, chatId)
  }

  /** Puts the row last. A queue that rests goes on resting until it is woken. */
  add(instance: string, chatId: string, item: QueueItem<Row>): void {
    this.#queueFor(instance, chatId).waiting.push(this.#kept(item))
  }

  /** Puts the row before those that are later: by their ids, unless the caller knows the order. */
  insert(instance: string, chatId: string, item: QueueItem<Row>, isLater?: (id: string) => boolean): void {
    this.#queueFor(instance, chatId).waiting.insert(this.#kept(item), isLater)
    this.#startChat(instance, chatId)
  }

  /** Takes out a row that needs no work any more. A row that is being worked on stays, and is not left resting. */
  remove(instance: string, id: string): void {
    const of = this.#instances.get(instance)
    for (const queue of of?.chats.values() ?? []) {
      const removed = queue.waiting.remove(id)
      if (of && removed) {
        this.#count(of, -1)
        this.#uncache([removed.item])
      }
      // The row behind the removed one need not rest.
      const isFirst = removed?.isFirst === true && queue.current === undefined
      if (of && (isFirst || queue.current?.id === id)) this.#start(of, queue)
      if (removed) return
    }
  }

  /** Two chats turned out to be one: their rows become one queue in the order of ids. */
  merge(instance: string, keepChatId: string, dropChatId: string): void {
    const of = this.#instanceOf(instance)
    of.merged.merge(keepChatId, dropChatId)
    const drop = of.chats.get(dropChatId)
    if (!drop || keepChatId === dropChatId) return
    of.chats.delete(dropChatId)
    drop.cancelTimer?.()
    const keep = this.#queueOf(of, of.merged.currentOf(keepChatId))
    drop.mergedInto = keep
    keep.absorbed.push(drop, ...drop.absorbed)
    if (drop.running) keep.before.push(drop.running)
    keep.before.push(...drop.before.splice(0))
    keep.waiting.absorb(drop.waiting)
    this.#start(of, keep)
  }

  /** Every queue of the instance tries its first row again. */
  wake(instance: string): void {
    const of = this.#instances.get(instance)
    for (const queue of of?.chats.values() ?? []) if (of) this.#start(of, queue)
  }

  /** Takes up no further row of the instance until it has left. Resolves when the work under way has ended. */
  async rest(instance: string): Promise<void> {
    const of = this.#instanceOf(instance)
    of.isResting = true
    await Promise.all(of.running)
  }

  /** Forgets the rows of the instance. Resolves when the work under way has ended. */
  async leave(instance: string): Promise<void> {
    const of = this.#instances.get(instance)
    const earlier = this.#leaving.get(instance)
    if (!of) {
      await earlier
      return
    }
    this.#instances.delete(instance)
    const ended = Promise.all([earlier, this.#end(of)])
    this.#leaving.set(instance, ended)
    await ended
    if (this.#leaving.get(instance) === ended) this.#leaving.delete(instance)
  }

  /** Takes up no further row. Resolves when the work under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#leaving.values(), ...[...this.#instances.values()].map((of) => this.#end(of))])
  }

  async #end({ stop, chats, running }: InstanceQueues<Row>): Promise<void> {
    stop.abort()
    for (const { cancelTimer, waiting } of chats.values()) {
      cancelTimer?.()
      this.#uncache(waiting.takeAll())
    }
    await Promise.all(running)
  }

  /** The queue of a row that is about to be put into it. */
  #queueFor(instance: string, chatId: string): Queue<Row> {
    const of = this.#instanceOf(instance)
    this.#count(of, 1)
    return this.#queueOf(of, of.merged.currentOf(chatId))
  }

  #count(of: InstanceQueues<Row>, more: 1 | -1): void {
    of.rows += more
    this.#deps.onCounted?.(of.instance)
  }

  #instanceOf(instance: string): InstanceQueues<Row> {
    return getOrCreate(this.#instances, instance, () => ({
      instance,
      rows: 0,
      chats: new Map<string, Queue<Row>>(),
      merged: new MergedKeys(),
      running: new Set<Promise<undefined>>(),
      isResting: false,
      stop: new AbortController(),
    }))
  }

  #queueOf(of: InstanceQueues<Row>, chatId: string): Queue<Row> {
    return getOrCreate(of.chats, chatId, () => {
      const leaving = this.#leaving.get(of.instance)
      return { chatId, waiting: new ItemList<Row>(), isWoken: false, before: leaving ? [leaving] : [], absorbed: [] }
    })
  }

  #kept({ id, row }: QueueItem<Row>): QueueItem<Row> {
    if (row === null || this.#cached >= (this.#deps.maxCached ?? Infinity)) return { id, row: null }
    this.#cached++
    return { id, row }
  }

  #uncache(items: readonly QueueItem<Row>[]): void {
    for (const { row } of items) if (row !== null) this.#cached--
  }

  #startChat(instance: string, chatId: string): void {
    const of = this.#instances.get(instance)
    const queue = of?.chats.get(of.merged.currentOf(chatId))
    if (of && queue) this.#start(of, queue)
  }

  #start(of: InstanceQueues<Row>, queue: Queue<Row>): void {
    queue.cancelTimer?.()
    queue.isWoken = true
    if (queue.running || of.stop.signal.aborted || this.#isStopped) return
    if (of.isResting) {
      this.#deps.onResting?.(idsOf(queue))
      return
    }
    const { promise: running, resolve } = Promise.withResolvers<undefined>()
    // Before the work begins, because the work may push rows.
    queue.running = running
    of.running.add(running)
    void this.#run(of, queue).finally(() => {
      of.running.delete(running)
      resolve(undefined)
    })
  }

  async #run(of: InstanceQueues<Row>, queue: Queue<Row>): Promise<void> {
    const { signal } = of.stop
    let outcome: WorkOutcome = 'done'
    while (queue.isWoken && !signal.aborted && !of.isResting) {
      queue.isWoken = false
      outcome = await this.#workOff(of, queue)
    }
    queue.running = undefined
    if (lengthOf(queue) === 0) {
      if (of.chats.get(queue.chatId) === queue) of.chats.delete(queue.chatId)
    } else if (of.isResting) this.#deps.onResting?.(idsOf(queue))
    else if (typeof outcome === 'object') this.#startAt(of, queue, outcome.until)
  }

  /** Until a row has to wait, or none is left. */
  async #workOff(of: InstanceQueues<Row>, queue: Queue<Row>): Promise<WorkOutcome> {
    const { signal } = of.stop
    for (;;) {
      // Another merge may add work while this one is awaited.
      while (queue.before.length > 0) await Promise.all(queue.before.splice(0))
      queue.absorbed.length = 0
      const item = signal.aborted || of.isResting ? undefined : queue.waiting.takeFirst()
      if (!item) return 'done'
      this.#uncache([item])
      queue.current = item
      const outcome = await this.#deps.work(of.instance, item, signal)
      queue.current = undefined
      if (outcome === 'done') this.#count(of, -1)
      else if (!signal.aborted) return this.#putBack(queue, item.id, outcome)
    }
  }

  #putBack(queue: Queue<Row>, id: string, outcome: WorkOutcome): WorkOutcome {
    let home = queue
    while (home.mergedInto) home = home.mergedInto
    if (home !== queue) {
      home.waiting.insert({ id, row: null })
      return 'done'
    }
    queue.waiting.putFirst({ id, row: null })
    this.#deps.onResting?.(idsOf(queue))
    return outcome
  }

  #startAt(of: InstanceQueues<Row>, queue: Queue<Row>, time: number): void {
    const { clock } = this.#deps
    queue.cancelTimer = clock.after(Math.max(0, time - clock.now()), () => {
      this.#start(of, queue)
    })
  }
}

function lengthOf({ waiting, current }: Queue<unknown>): number {
  return waiting.length + (current ? 1 : 0)
}

function idsOf({ waiting, current, absorbed }: Queue<unknown>): string[] {
  const underWay = [current, ...absorbed.map((queue) => queue.current)]
  return [...underWay.flatMap((item) => item?.id ?? []), ...waiting.ids()]
}
