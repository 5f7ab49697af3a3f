// Counts requests per key and minute. The count restarts with each minute of the clock, as in Rack::Attack.

import type { SimClock } from '../../shiftable-clock.ts'

export class MinuteLimit {
  readonly #clock: SimClock
  readonly #counts = new Map<string, { minute: number; count: number }>()

  constructor(clock: SimClock) {
    this.#clock = clock
  }

  admit(key: string, perMinute: number): boolean {
    const minute = Math.floor(this.#clock.now() / 60_000)
    const known = this.#counts.get(key)
    const count = (known?.minute === minute ? known.count : 0) + 1
    this.#counts.set(key, { minute, count })
    return count <= perMinute
  }
}
