// A clock that does not follow a jump of the clock on the wall before it has lasted for a minute. So messages that wait do not
// become overdue while the clock is wrong for a moment.

import type { Clock } from './clock.ts'

const toleratedMs = 10_000
const trustedAfterMs = 60_000

export class SteadyClock implements Clock {
  readonly #clock: Clock
  /** The time at the beginning of the monotonic scale. */
  #beginning: number
  /** When the clock jumped, on the monotonic scale. */
  #jumpedAt: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#beginning = clock.now() - clock.monotonic()
  }

  now(): number {
    const [time, at] = [this.#clock.now(), this.#clock.monotonic()]
    const expected = this.#beginning + at
    const isAsExpected = Math.abs(time - expected) <= toleratedMs
    if (!isAsExpected) {
      this.#jumpedAt ??= at
      if (at - this.#jumpedAt < trustedAfterMs) return Math.round(expected)
    }
    this.#jumpedAt = undefined
    this.#beginning = time - at
    return time
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  after(ms: number, work: () => void): () => void {
    return this.#clock.after(ms, work)
  }
}
