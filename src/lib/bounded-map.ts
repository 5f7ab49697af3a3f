// A map with a limit of entries and of their age; the oldest entry goes first. It needs no timers.

import type { Clock } from './clock.ts'

type Options = { clock: Pick<Clock, 'monotonic'>; max: number; ttlMs: number }

export class BoundedMap<Value> {
  readonly #options: Options
  readonly #entries = new Map<string, { value: Value; until: number }>()

  constructor(options: Options) {
    this.#options = options
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.until > this.#options.clock.monotonic()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: Value): void {
    const { clock, max, ttlMs } = this.#options
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: clock.monotonic() + ttlMs })
    if (this.#entries.size <= max) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }

  deleteWhere(matches: (key: string, value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(key, value)) this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
