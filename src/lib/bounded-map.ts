// A map with a limit of entries and of their age; the oldest entry goes first. It needs no timers, and no memory until its first entry:
// each account has some twenty of them, and most of those stay empty.

import type { Clock } from './clock.ts'

type Options = { clock: Pick<Clock, 'monotonic'>; max: number; ttlMs: number }
type Entry<Value> = { value: Value; until: number }

export class BoundedMap<Value> {
  readonly #options: Options
  #entries: Map<string, Entry<Value>> | undefined
  /** Goes on where it was: a new one would pass all entries that were dropped before. */
  #oldestFirst: MapIterator<string> | undefined
  /** How many entries were set since one was dropped. */
  #undropped = 0

  constructor(options: Options) {
    this.#options = options
  }

  get(key: string): Value | undefined {
    const entry = this.#entries?.get(key)
    if (!entry) return undefined
    if (entry.until > this.#options.clock.monotonic()) return entry.value
    this.#entries?.delete(key)
    return undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: Value): void {
    const { clock, max, ttlMs } = this.#options
    const entries = (this.#entries ??= new Map<string, Entry<Value>>())
    entries.delete(key)
    entries.set(key, { value, until: clock.monotonic() + ttlMs })
    this.#undropped += 1
    if (entries.size > max) this.#dropOldest(entries)
    // An iterator that stands still keeps every table that the map has outgrown since.
    else if (this.#undropped > max) this.#oldestFirst = undefined
  }

  delete(key: string): boolean {
    return this.#entries?.delete(key) ?? false
  }

  deleteWhere(matches: (key: string, value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries ?? []) if (matches(key, value)) this.#entries?.delete(key)
  }

  clear(): void {
    this.#entries = undefined
    this.#oldestFirst = undefined
  }

  #dropOldest(entries: Map<string, Entry<Value>>): void {
    this.#undropped = 0
    this.#oldestFirst ??= entries.keys()
    const { value: oldest } = this.#oldestFirst.next()
    if (oldest !== undefined) entries.delete(oldest)
  }
}
