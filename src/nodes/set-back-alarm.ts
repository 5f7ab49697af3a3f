// Remembers for a day that the database was set back: a replica that had not everything took over, so confirmed messages and keys
// may be missing.

import type { Clock } from '../lib/clock.ts'

const shownForMs = 86_400_000

export class SetBackAlarm {
  readonly #clock: Clock
  #at: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(): void {
    this.#at = this.#clock.now()
  }

  /** Epoch milliseconds of the last time; null when it did not happen in the last day. */
  get at(): number | null {
    return this.#at !== null && this.#clock.now() - this.#at < shownForMs ? this.#at : null
  }
}
