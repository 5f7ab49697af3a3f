// Notices that the clock on the wall was put back while the process ran.

import type { Clock } from './clock.ts'

/** Small corrections are usual. */
const noticeableMs = 1000

export class ClockSteps {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  #offset: number

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock
    this.#offset = this.#measure()
  }

  /** By how many milliseconds the clock was put back since the last call; 0 when it was not. */
  backMs(): number {
    const before = this.#offset
    this.#offset = this.#measure()
    const back = before - this.#offset
    return back > noticeableMs ? back : 0
  }

  #measure(): number {
    return this.#clock.now() - this.#clock.monotonic()
  }
}
