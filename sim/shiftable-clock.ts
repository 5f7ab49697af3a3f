// The simulator's clock: it runs like the wall clock. A test can move it forward, which fires the due timers.

export type SimClock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Runs `work` once after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void
}

type Timer = { at: number; order: number; work: () => void; handle: NodeJS.Timeout }

export class ShiftableClock implements SimClock {
  readonly #timers = new Set<Timer>()
  #shift = 0
  #order = 0

  now(): number {
    return Date.now() + this.#shift
  }

  after(ms: number, work: () => void): () => void {
    // The time of day stays a whole number after a move to the end of a timer.
    const at = this.now() + Math.ceil(ms)
    const timer: Timer = { at, order: this.#order++, work, handle: setTimeout(() => undefined, 0) }
    this.#timers.add(timer)
    this.#arm(timer)
    return () => {
      clearTimeout(timer.handle)
      this.#timers.delete(timer)
    }
  }

  /** Fires the due timers in order. The effects of one timer finish before time goes on. */
  async advance(ms: number, settle: () => Promise<void> = turn): Promise<void> {
    const target = this.now() + ms
    await settle()
    for (let due = this.#nextDue(target); due; due = this.#nextDue(target)) {
      this.#shift += Math.max(0, due.at - this.now())
      this.#fire(due)
      await turn()
      await settle()
    }
    this.#shift += Math.max(0, target - this.now())
    for (const timer of this.#timers) this.#arm(timer)
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle)
    timer.handle = setTimeout(
      () => {
        this.#fire(timer)
      },
      Math.max(timer.at - this.now(), 0),
    )
  }

  #fire(timer: Timer): void {
    clearTimeout(timer.handle)
    if (this.#timers.delete(timer)) timer.work()
  }

  #nextDue(target: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= target).sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
