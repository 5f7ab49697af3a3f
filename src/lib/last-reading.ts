// Reads something that takes time, for callers that need an answer soon. Callers share one read, and the result counts for a
// moment: many callers cause no more reads than one. When a read fails or takes too long, the callers get the last result.

import { withDeadline } from './clock.ts'
import type { Clock } from './clock.ts'
import { ignoreRejection } from './ignore.ts'

type Options<Value> = {
  read: () => Promise<Value>
  clock: Clock
  /** How long a result counts. */
  freshMs: number
  /** How long a caller waits for a read. */
  deadlineMs: number
}

export class LastReading<Value> {
  readonly #options: Options<Value>
  #last: { value: Value; readAt: number } | undefined
  #reading: Promise<void> | undefined

  constructor(options: Options<Value>) {
    this.#options = options
  }

  /** Undefined if no read has succeeded yet. */
  async find(): Promise<Value | undefined> {
    const { clock, freshMs, deadlineMs } = this.#options
    if (this.#last && clock.monotonic() - this.#last.readAt < freshMs) return this.#last.value
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await withDeadline(clock, deadlineMs, this.#reading, () => new Error('late')).catch(ignoreRejection)
    return this.#last?.value
  }

  async #read(): Promise<void> {
    const value = await this.#options.read()
    this.#last = { value, readAt: this.#options.clock.monotonic() }
  }
}
