// Shares the event loop: work that keeps the processor busy asks for a turn before each piece of it, and all of that work
// together gets only a slice of every turn of the loop. So however much there is of it, requests are answered in between.

const sliceMs = 8

export class LoopTurns {
  readonly #now: () => number
  #sliceStartedAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** In the order of asking. Resolves in this turn of the loop while its slice lasts, else in a later one. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const ask = () => {
        if (this.#isWithinSlice()) resolve()
        else setImmediate(ask)
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
export const loopTurns = new LoopTurns(() => performance.now())
