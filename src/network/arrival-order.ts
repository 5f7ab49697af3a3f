// Keeps the order in which stanzas arrived, where the library does not.
//
// It opens what waited on the server one by one and lets live messages overtake: one that came after the key of its group
// could then not be opened. Notices need no opening at all and would come before the messages they follow.

import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'

type Waiting = { left: Set<object>; resolve: () => void }

/** A message the library never gets to must not hold up the others for ever. */
const longestMs = 30_000

export class ArrivalOrder {
  readonly #clock: Clock
  readonly #unopened = new Set<object>()
  readonly #backlog = new Set<object>()
  readonly #waiting = new Set<Waiting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** While something that waited on the server is not opened yet, or something waits for that. */
  get isBehind(): boolean {
    return this.#backlog.size > 0 || this.#waiting.size > 0
  }

  expect(ciphertext: object, isBacklog: boolean): void {
    this.#unopened.add(ciphertext)
    if (isBacklog) this.#backlog.add(ciphertext)
  }

  /** Opened, or found not to open. */
  done(ciphertext: object): void {
    this.#forget(ciphertext)
    for (const { left, resolve } of this.#waiting) {
      left.delete(ciphertext)
      if (left.size === 0) resolve()
    }
  }

  /** Resolves when everything that arrived before this call is done. */
  async afterEarlier(): Promise<void> {
    if (this.#unopened.size === 0) return
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const left = new Set(this.#unopened)
    const waiting: Waiting = {
      left,
      resolve: () => {
        resolve(undefined)
      },
    }
    this.#waiting.add(waiting)
    const enough = new AbortController()
    await Promise.race([promise, sleep(this.#clock, longestMs, enough.signal)])
    enough.abort()
    this.#waiting.delete(waiting)
    for (const ciphertext of left) this.#forget(ciphertext)
  }

  #forget(ciphertext: object): void {
    this.#unopened.delete(ciphertext)
    this.#backlog.delete(ciphertext)
  }
}
