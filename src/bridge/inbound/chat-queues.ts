// One queue per chat: rows of a chat are worked on one after the other, chats side by side. A long queue is ids only; the
// rows themselves come back from storage when it is their turn.

import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'

export type QueuedRow = { id: string; row: InboxRow | null }

type Lane = {
  instance: string
  /** Sorted by id from `next` on. */
  queue: QueuedRow[]
  next: number
  running: Promise<void> | undefined
  /** Work on another lane that became this one and must end first. */
  before: Promise<void>[]
}

type Deps = {
  /** Takes one row to its end; never rejects. */
  work: (instance: string, queued: QueuedRow) => Promise<void>
  /** How many rows may be held in memory, over all lanes. */
  maxHeld: number
}

// Below this a queue is not worth tidying.
const tidyAt = 1000

export class InboundLanes {
  readonly #deps: Deps
  readonly #lanes = new Map<string, Lane>()
  #held = 0
  #waiting = 0
  #stopped = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rows that wait or are being worked on. */
  get size(): number {
    return this.#waiting
  }

  get count(): number {
    return this.#lanes.size
  }

  /** How many rows the longest lane has, the one being worked on among them. */
  get longest(): number {
    let longest = 0
    for (const { queue, next, running } of this.#lanes.values()) {
      longest = Math.max(longest, queue.length - next + (running ? 1 : 0))
    }
    return longest
  }

  /** In the order of ids; `last` behind whatever waits. */
  push(key: string, row: InboxRow, last = false): void {
    const hold = this.#held < this.#deps.maxHeld
    if (hold) this.#held++
    this.#add(key, row.instance, { id: row.id, row: hold ? row : null }, last)
  }

  /** Both are one chat from now on, in the order of arrival. */
  merge(keepKey: string, dropKey: string): void {
    const drop = this.#lanes.get(dropKey)
    if (!drop || keepKey === dropKey) return
    this.#lanes.delete(dropKey)
    const keep = this.#laneOf(keepKey, drop.instance)
    if (drop.running) keep.before.push(drop.running)
    keep.before.push(...drop.before)
    const queued = [...keep.queue.slice(keep.next), ...drop.queue.slice(drop.next)]
    keep.queue = queued.sort((a, b) => (a.id < b.id ? -1 : 1))
    keep.next = 0
    drop.queue = []
    drop.next = 0
    this.#run(keepKey, keep)
  }

  /** What waits of this instance is forgotten; resolves when nothing of it is worked on any more. */
  async drop(instance: string): Promise<void> {
    const lanes = [...this.#lanes.values()].filter((lane) => lane.instance === instance)
    for (const lane of lanes) this.#empty(lane)
    for (const { running } of lanes) await running
  }

  /** Resolves when nothing is worked on any more; what waits stays in storage. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const { running, before } of [...this.#lanes.values()]) {
      await running
      await Promise.all(before)
    }
  }

  #add(key: string, instance: string, queued: QueuedRow, last: boolean): void {
    const lane = this.#laneOf(key, instance)
    this.#waiting++
    let at = lane.queue.length
    while (!last && at > lane.next && (lane.queue[at - 1]?.id ?? '') > queued.id) at--
    if (at === lane.queue.length) lane.queue.push(queued)
    else lane.queue.splice(at, 0, queued)
    this.#run(key, lane)
  }

  #laneOf(key: string, instance: string): Lane {
    const known = this.#lanes.get(key)
    if (known) return known
    const lane: Lane = { instance, queue: [], next: 0, running: undefined, before: [] }
    this.#lanes.set(key, lane)
    return lane
  }

  #run(key: string, lane: Lane): void {
    if (lane.running || this.#stopped) return
    lane.running = this.#drain(lane).finally(() => {
      lane.running = undefined
      if (lane.next < lane.queue.length) this.#run(key, lane)
      else if (this.#lanes.get(key) === lane) this.#lanes.delete(key)
    })
  }

  async #drain(lane: Lane): Promise<void> {
    await Promise.all(lane.before.splice(0))
    while (!this.#stopped) {
      const queued = this.#take(lane)
      if (!queued) return
      await this.#deps.work(lane.instance, queued)
      this.#waiting--
      if (lane.before.length > 0) await Promise.all(lane.before.splice(0))
    }
  }

  #take(lane: Lane): QueuedRow | undefined {
    const queued = lane.queue[lane.next]
    if (!queued) return undefined
    lane.next++
    if (queued.row) this.#held--
    if (lane.next >= tidyAt && lane.next * 2 > lane.queue.length) {
      lane.queue = lane.queue.slice(lane.next)
      lane.next = 0
    }
    return queued
  }

  #empty(lane: Lane): void {
    for (const { row } of lane.queue.slice(lane.next)) if (row) this.#held--
    this.#waiting -= lane.queue.length - lane.next
    lane.queue = []
    lane.next = 0
  }
}
