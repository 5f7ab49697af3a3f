// Keeps the order in which stanzas arrived, where the library does not.
//
// It opens what waited on the server one by one and lets live messages overtake: one that came after the key of its group
// could then not be opened. While it learns that a phone and a LID are one person, the messages of that person that come
// later overtake those that made it learn. Notices need no opening at all and would come before the messages they follow.

import type { Clock } from '../lib/clock.ts'

type Waiting = { left: Set<object>; resolve: () => void }
/** The sealed parts of one stanza. */
type Parcel = { chat: string; left: Set<object>; opened: PromiseWithResolvers<undefined> }

/** A message the library never gets to must not hold up the others for ever. */
const longestMs = 30_000

export class ArrivalOrder {
  readonly #clock: Clock
  /** What is waited for. */
  readonly #unopened = new Set<object>()
  /** Also of what is not waited for any more: it may still be opened. */
  readonly #parcels = new WeakMap<object, Parcel>()
  readonly #backlog = new Set<object>()
  readonly #waiting = new Set<Waiting>()
  /** The last one that arrived in each chat, while it is not opened. */
  readonly #newest = new Map<string, Parcel>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** While something that waited on the server is not opened yet, or something waits for that. */
  get isBehind(): boolean {
    return this.#backlog.size > 0 || this.#waiting.size > 0
  }

  /** A promise when the one before it in the same chat must be opened first. */
  expect(chat: string, ciphertexts: readonly object[], isBacklog: boolean): Promise<void> | undefined {
    if (ciphertexts.length === 0) return undefined
    const before = this.#newest.get(chat)
    const parcel: Parcel = { chat, left: new Set(ciphertexts), opened: Promise.withResolvers() }
    this.#newest.set(chat, parcel)
    for (const ciphertext of ciphertexts) {
      this.#unopened.add(ciphertext)
      this.#parcels.set(ciphertext, parcel)
      if (isBacklog) this.#backlog.add(ciphertext)
    }
    return before && this.#inTime(before.opened.promise, before.left)
  }

  /** Opened, or found not to open. */
  done(ciphertext: object): void {
    const parcel = this.#parcels.get(ciphertext)
    this.#forget(ciphertext)
    for (const { left, resolve } of this.#waiting) {
      left.delete(ciphertext)
      if (left.size === 0) resolve()
    }
    parcel?.left.delete(ciphertext)
    if (!parcel || parcel.left.size > 0) return
    parcel.opened.resolve(undefined)
    if (this.#newest.get(parcel.chat) === parcel) this.#newest.delete(parcel.chat)
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
    await this.#inTime(promise, waiting.left)
    this.#waiting.delete(waiting)
  }

  /** What is left when the time is over is not waited for any more. */
  #inTime(opened: Promise<unknown>, left: ReadonlySet<object>): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        for (const ciphertext of left) this.#forget(ciphertext)
        resolve()
      }
      const cancel = this.#clock.after(longestMs, end)
      void opened.then(end)
    })
  }

  #forget(ciphertext: object): void {
    this.#unopened.delete(ciphertext)
    this.#backlog.delete(ciphertext)
  }
}
