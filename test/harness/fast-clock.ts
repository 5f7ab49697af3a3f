// A clock that runs some times faster than the one on the wall, for tests whose pauses are long and whose parts are real. With
// a speed below 1 it runs slower, for tests that must not depend on the speed of the machine.

import type { Clock } from '../../src/lib/clock.ts'

export class FastClock implements Clock {
  #speed: number
  readonly #startedAt = Date.now()
  #zero = performance.now()
  /** What had passed at the zero. */
  #passed = 0

  constructor(speed: number) {
    this.#speed = speed
  }

  /** Timers that are set already keep their time on the wall. */
  setSpeed(speed: number): void {
    this.#passed = this.monotonic()
    this.#zero = performance.now()
    this.#speed = speed
  }

  now(): number {
    return Math.round(this.#startedAt + this.monotonic())
  }

  monotonic(): number {
    return this.#passed + (performance.now() - this.#zero) * this.#speed
  }

  after(ms: number, work: () => void): () => void {
    const timer = setTimeout(work, Math.min(ms / this.#speed, 2 ** 31 - 1))
    return () => {
      clearTimeout(timer)
    }
  }
}
