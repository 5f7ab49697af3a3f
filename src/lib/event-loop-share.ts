// Shares the event loop: work that keeps the processor busy asks for a turn before each piece of it, and all of that work
// together gets only a slice of every turn of the loop. So however much there is of it, requests are answered in between.

const sliceMs = 8

export class EventLoopShare {
  readonly #now: () => number
  #sliceStartedAt: number | undefined
  #waiting = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * In the order of asking. Resolves in this turn of the loop while its slice lasts, else in a later one; at once for the
   * first of a turn, when nobody waits.
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
    // The first of the next turn, for nobody can have asked for that one earlier.
    setImmediate(() => {
      this.#sliceStartedAt = undefined
    })
    return true
  }
}

/** Of this process, which has one event loop. */
export const eventLoopShare = new EventLoopShare(() => performance.now())
