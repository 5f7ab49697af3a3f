// Lets each key speak at most once a second. What is said first goes out at once. Of what follows within the second, the last
// goes out at its end.

import type { Clock } from '../lib/clock.ts'

const pauseMs = 1000

type Paused = { next: (() => void) | undefined; cancel: () => void }

export class LatestOnly {
  readonly #clock: Clock
  readonly #paused = new Map<string, Paused>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  run(key: string, say: () => void): void {
    const paused = this.#paused.get(key)
    if (paused) {
      paused.next = say
      return
    }
    this.#pause(key)
    say()
  }

  clear(): void {
    for (const { cancel } of this.#paused.values()) cancel()
    this.#paused.clear()
  }

  #pause(key: string): void {
    const paused: Paused = {
      next: undefined,
      cancel: this.#clock.after(pauseMs, () => {
        this.#paused.delete(key)
        if (!paused.next) return
        this.#pause(key)
        paused.next()
      }),
    }
    this.#paused.set(key, paused)
  }
}
