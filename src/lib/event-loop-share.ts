// Shares the event loop: work that keeps the processor busy asks for a turn before each piece, and all such work together
// gets only a slice of every turn of the loop. Requests are answered in between, independent of the amount of work.

const sliceMs = 8

export class EventLoopShare {
  readonly #now: () => number
  #sliceStartedAt: number | undefined
  #waiting = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Resolves in the order of the calls: in this turn of the loop while its slice lasts, else in a later one. The first
   * caller of a turn need not wait when no other caller waits.
   */
  next(): Promise<void> {
    if (this.#waiting === 0 && this.#sliceStartedAt === undefined && this.#isWithinSlice()) return Promise.resolve()
    this.#waiting += 1
    return new Promise((resolve) => {
      const ask = () => {
        if (!this.#isWithinSlice()) return void setImmediate(ask)
        this.#waiting -= 1
        resolve()
      }
      setImmediate(ask)
    })
  }

  #isWithinSlice(): boolean {
    const now = this.#now()
    if (this.#sliceStartedAt !== undefined) return now - this.#sliceStartedAt < sliceMs
    this.#sliceStartedAt = now
    // Runs first in the next turn: no caller can have scheduled anything earlier.
    setImmediate(() => {
      this.#sliceStartedAt = undefined
    })
    return true
  }
}

/** A process has one event loop, and this is its share. */
export const eventLoopShare = new EventLoopShare(() => performance.now())
