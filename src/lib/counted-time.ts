// Measures time for a limit on which not all time counts: neither the time in which this process was frozen, nor the time in
// which a part of the service was away.
//
// Time is measured in slices. A frozen process runs its timers late, so one slice at most counts for a freeze of any length.

import type { Clock } from './clock.ts'

const sliceMs = 1000

type Deps = {
  clock: Clock
  /** Whether the slice that ends now counts. */
  counts: () => boolean
  /** Called at the end of every slice. */
  onSlice: () => void
}

export class CountedTime {
  readonly #deps: Deps
  #countedMs = 0
  #sliceBegan = 0
  #cancel: (() => void) | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The milliseconds that have counted while it ran. */
  get ms(): number {
    return this.#countedMs + (this.#cancel ? this.#sliceMs() : 0)
  }

  /** Does nothing if it runs already. */
  start(): void {
    if (!this.#cancel) this.#beginSlice()
  }

  stop(): void {
    this.#countedMs = this.ms
    this.#cancel?.()
    this.#cancel = undefined
  }

  #beginSlice(): void {
    const { clock, onSlice } = this.#deps
    this.#sliceBegan = clock.monotonic()
    this.#cancel = clock.after(sliceMs, () => {
      this.#countedMs += this.#sliceMs()
      this.#beginSlice()
      onSlice()
    })
  }

  #sliceMs(): number {
    const { clock, counts } = this.#deps
    return counts() ? Math.min(sliceMs, clock.monotonic() - this.#sliceBegan) : 0
  }
}
