// A point in time that moves while a request makes progress, unless the time is for all of it. Moving it later costs no timer.

import type { Clock } from '../clock.ts'

export class Deadline {
  readonly #clock: Clock
  readonly #passed: () => void
  readonly #isTotal: boolean
  #at: number
  #timerAt = Infinity
  #cancel: () => void = () => undefined

  constructor(clock: Clock, ms: number, passed: () => void, isTotal = false) {
    this.#clock = clock
    this.#passed = passed
    this.#isTotal = isTotal
    this.#at = clock.monotonic() + ms
    this.#arm()
  }

  /** Starts again from now. */
  restart(ms: number): void {
    if (this.#isTotal) return
    this.#at = this.#clock.monotonic() + ms
    if (this.#at < this.#timerAt) this.#arm()
  }

  extend(ms: number): void {
    if (!this.#isTotal) this.#at += ms
  }

  /** Starts again from now, unless the end is nearer already. */
  shorten(ms: number): void {
    if (this.#clock.monotonic() + ms < this.#at) this.restart(ms)
  }

  end(): void {
    this.#cancel()
    this.#timerAt = -Infinity
  }

  #arm(): void {
    this.#cancel()
    this.#timerAt = this.#at
    this.#cancel = this.#clock.after(Math.max(0, this.#at - this.#clock.monotonic()), () => {
      // A timer cannot measure less than this.
      if (this.#at - this.#timerAt >= 1) this.#arm()
      else this.#passed()
    })
  }
}
