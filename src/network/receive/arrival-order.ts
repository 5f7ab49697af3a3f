// Keeps the order in which stanzas arrived, where the library does not.
//
// It opens what waited on the server one by one and lets live messages overtake: one that came after the key of its group
// could then not be opened. While it learns that a phone and a LID are one person, the messages of that person that come
// later overtake those that made it learn. Notices need no opening at all and would come before the messages they follow.

import type { Clock } from '../../lib/clock.ts'

/** The sealed parts of one stanza. */
type Parcel = { chat: string; number: number; left: Set<object> }
type Wait = {
  /** Whatever arrived up to this number is reason to go on waiting, as long as some of it is opened now and then. */
  upTo: number
  isOver: (firstUnopened: number) => boolean
  heardAt: number
  end: () => void
}

/** A message the library never gets to must not hold up the others for ever. */
const longestMs = 30_000

export class ArrivalOrder {
  readonly #clock: Clock
  /** What is waited for, numbered as it arrived. */
  readonly #unopened = new Map<object, number>()
  /** Also of what is not waited for any more: it may still be opened. */
  readonly #parcels = new WeakMap<object, Parcel>()
  readonly #backlog = new Set<object>()
  readonly #waits = new Set<Wait>()
  /** The last one that arrived in each chat, while it is not opened. */
  readonly #newest = new Map<string, Parcel>()
  #arrived = 0
  /** How many wait for everything before them. */
  #behind = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** While something that waited on the server is not opened yet, or something waits for that. */
  get isBehind(): boolean {
    return this.#backlog.size > 0 || this.#behind > 0
  }

  /** A promise when the one before it in the same chat must be opened first. */
  expect(chat: string, ciphertexts: readonly object[], isBacklog: boolean): Promise<void> | undefined {
    if (ciphertexts.length === 0) return undefined
    const before = this.#newest.get(chat)
    const number = ++this.#arrived
    const parcel: Parcel = { chat, number, left: new Set(ciphertexts) }
    this.#newest.set(chat, parcel)
    for (const ciphertext of ciphertexts) {
      this.#unopened.set(ciphertext, number)
      this.#parcels.set(ciphertext, parcel)
      if (isBacklog) this.#backlog.add(ciphertext)
    }
    if (!before) return undefined
    const isOver = () => before.left.size === 0
    return this.#wait({ upTo: before.number, isOver, left: () => [...before.left] })
  }

  /** Opened, or found not to open. */
  done(ciphertext: object): void {
    const number = this.#unopened.get(ciphertext)
    const parcel = this.#parcels.get(ciphertext)
    this.#forget(ciphertext)
    parcel?.left.delete(ciphertext)
    if (parcel?.left.size === 0 && this.#newest.get(parcel.chat) === parcel) this.#newest.delete(parcel.chat)
    this.#tell(number)
  }

  /** Resolves when everything that arrived before this call is done. */
  async afterEarlier(): Promise<void> {
    if (this.#unopened.size === 0) return
    const upTo = this.#arrived
    const left = () => [...this.#unopened].filter(([, number]) => number <= upTo).map(([ciphertext]) => ciphertext)
    this.#behind++
    await this.#wait({ upTo, isOver: (first) => first > upTo, left })
    this.#behind--
  }

  /** What is left when nothing was opened for too long is not waited for any more. */
  #wait({ left, ...about }: Pick<Wait, 'upTo' | 'isOver'> & { left: () => object[] }): Promise<void> {
    const clock = this.#clock
    return new Promise((resolve) => {
      const giveUp = () => {
        const quietMs = clock.monotonic() - wait.heardAt
        if (quietMs < longestMs) {
          cancel = clock.after(longestMs - quietMs, giveUp)
          return
        }
        for (const ciphertext of left()) this.#forget(ciphertext)
        wait.end()
        this.#tell()
      }
      let cancel = clock.after(longestMs, giveUp)
      const end = () => {
        cancel()
        this.#waits.delete(wait)
        resolve()
      }
      const wait: Wait = { ...about, heardAt: clock.monotonic(), end }
      this.#waits.add(wait)
    })
  }

  /** Whoever waited for it goes on; whoever waits for more has heard something. */
  #tell(opened = Infinity): void {
    const first = this.#unopened.values().next().value ?? Infinity
    const now = this.#clock.monotonic()
    for (const wait of this.#waits) {
      if (wait.isOver(first)) wait.end()
      else if (opened <= wait.upTo) wait.heardAt = now
    }
  }

  #forget(ciphertext: object): void {
    this.#unopened.delete(ciphertext)
    this.#backlog.delete(ciphertext)
  }
}
