// Notices that the clock on the wall was put back while the process ran, and has stored times corrected.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** Small corrections are usual. */
const noticeableMs = 1000

type Deps = {
  clock: Pick<Clock, 'now' | 'monotonic'>
  log: Log
  /** Corrects the times that are in the future now. */
  correct: () => Promise<void>
}

export class ClockWatch {
  readonly #deps: Deps
  #offset: number
  /** The clock was put back, and the times are not corrected yet. A failed correction is repeated. */
  #isOpen = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#offset = this.#measure()
  }

  /** Compares the clock with the call before. */
  async run(): Promise<void> {
    const { log, correct } = this.#deps
    const before = this.#offset
    this.#offset = this.#measure()
    const backMs = before - this.#offset
    if (backMs > noticeableMs) {
      log.warn({ back_ms: backMs }, 'the clock was put back, stored times in the future are corrected')
      this.#isOpen = true
    }
    if (!this.#isOpen) return
    await correct()
    this.#isOpen = false
  }

  #measure(): number {
    const { clock } = this.#deps
    return clock.now() - clock.monotonic()
  }
}
