// Keeps notices behind the messages that arrived before them: the library opens messages one by one, notices need no opening.

import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'

type Waiting = { left: Set<object>; resolve: () => void }

/** A message the library never gets to must not hold up the others for ever. */
const longestMs = 30_000

export class ArrivalOrder {
  readonly #clock: Clock
  readonly #unopened = new Set<object>()
  readonly #waiting = new Set<Waiting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  expect(ciphertext: object): void {
    this.#unopened.add(ciphertext)
  }

  /** Opened, or found not to open. */
  done(ciphertext: object): void {
    this.#unopened.delete(ciphertext)
    for (const { left, resolve } of this.#waiting) {
      left.delete(ciphertext)
      if (left.size === 0) resolve()
    }
  }

  /** Resolves when everything that arrived before this call is done. */
  async afterEarlier(): Promise<void> {
    if (this.#unopened.size === 0) return
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const waiting: Waiting = {
      left: new Set(this.#unopened),
      resolve: () => {
        resolve(undefined)
      },
    }
    this.#waiting.add(waiting)
    const enough = new AbortController()
    await Promise.race([promise, sleep(this.#clock, longestMs, enough.signal)])
    enough.abort()
    this.#waiting.delete(waiting)
    for (const ciphertext of waiting.left) this.#unopened.delete(ciphertext)
  }
}
