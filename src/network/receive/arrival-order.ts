// Keeps messages in the order of their arrival where the library does not.
//
// The library opens the backlog (messages that waited on the server) one by one, and live messages overtake it. A live group
// message could then come before the message that carries its key, and could not be opened. So live messages wait for the
// backlog, also for the part of it that the server has not delivered yet. While the library resolves a phone number to a
// LID, later messages of that person can overtake the message that triggered it. Notices need no decryption, so they would
// come before the messages that they follow.

import type { Jid } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { CountedTime } from '../../lib/counted-time.ts'

/** One stanza and its ciphertexts that are not opened yet. */
type Arrival = { chat: Jid; number: number; left: Set<object> }
type Wait = {
  /** The wait goes on while arrivals up to this number are opened now and then. */
  upTo: number
  /** It also goes on while later arrivals of the backlog are opened. */
  isForBacklog: boolean
  isOver: () => boolean
  /** What it waits for. */
  left: () => object[]
  /** The counted time of the last progress. */
  progressAt: number
  end: () => void
}

/**
 * A message that the library never opens must not block the others for ever. Time does not count while storage is away:
 * no message can be opened then.
 */
const stalledMs = 30_000

type Deps = {
  clock: Clock
  isStorageAway: () => boolean
  /** Aborts when the connection ends. Nothing is opened after that. */
  gone: AbortSignal
}

export class ArrivalOrder {
  readonly #gone: AbortSignal
  readonly #time: CountedTime
  /** The ciphertexts to wait for, with the number of their arrival. */
  readonly #unopened = new Map<object, number>()
  /** Includes ciphertexts that are not waited for any more, because they may still be opened. */
  readonly #arrivals = new WeakMap<object, Arrival>()
  /** Those of them that belong to the backlog. */
  readonly #backlog = new Map<object, number>()
  readonly #waits = new Set<Wait>()
  /** The last arrival of each chat, while it is not opened. */
  readonly #newest = new Map<Jid, Arrival>()
  #arrived = 0
  /** How many live callers wait for everything before them. */
  #behind = 0
  /** Whether the server has not delivered all of the backlog. */
  #isBacklogComing = false

  constructor({ clock, isStorageAway, gone }: Deps) {
    this.#gone = gone
    this.#time = new CountedTime({
      clock,
      counts: () => !isStorageAway(),
      onSlice: this.#giveUpStalled.bind(this),
    })
    gone.addEventListener('abort', this.#time.stop.bind(this.#time), { once: true })
  }

  /** True while some of the backlog is not opened yet, or a live caller waits for it. */
  get isBehind(): boolean {
    return this.#isBacklogComing || this.#backlog.size > 0 || this.#behind > 0
  }

  /** How many ciphertexts of the backlog have come and are not opened yet. */
  get unopenedBacklog(): number {
    return this.#backlog.size
  }

  /** The server delivers the backlog from now on. */
  backlogBegins(): void {
    this.#isBacklogComing = true
  }

  /** All of the backlog has come. */
  backlogEnds(): void {
    this.#isBacklogComing = false
    this.#notify()
  }

  /**
   * Returns a promise if the previous message of the same chat must be opened first. The library opens the backlog one by
   * one anyway.
   */
  expect(chat: Jid, ciphertexts: readonly object[], isBacklog: boolean): Promise<void> | undefined {
    if (ciphertexts.length === 0) return undefined
    const before = this.#newest.get(chat)
    const number = ++this.#arrived
    const arrival: Arrival = { chat, number, left: new Set(ciphertexts) }
    this.#newest.set(chat, arrival)
    for (const ciphertext of ciphertexts) {
      this.#unopened.set(ciphertext, number)
      this.#arrivals.set(ciphertext, arrival)
      if (isBacklog) this.#backlog.set(ciphertext, number)
    }
    if (!before || isBacklog) return undefined
    const isOver = () => before.left.size === 0
    return this.#wait({ upTo: before.number, isForBacklog: false, isOver, left: () => [...before.left] })
  }

  /** To be called when the ciphertext is opened, or cannot be opened. */
  done(ciphertext: object): void {
    const number = this.#unopened.get(ciphertext)
    const isBacklog = this.#backlog.has(ciphertext)
    const arrival = this.#arrivals.get(ciphertext)
    this.#forget(ciphertext)
    arrival?.left.delete(ciphertext)
    if (arrival?.left.size === 0 && this.#newest.get(arrival.chat) === arrival) this.#newest.delete(arrival.chat)
    this.#notify(number, isBacklog)
  }

  /** Resolves when everything that arrived before this call is opened, and all of the backlog. */
  async afterEarlier(): Promise<void> {
    if (this.#unopened.size === 0 && !this.#isBacklogComing) return
    const upTo = this.#arrived
    const isOver = () => !this.#isBacklogComing && this.#backlog.size === 0 && firstOf(this.#unopened) > upTo
    const left = () => [...upToNumber(this.#unopened, upTo), ...this.#backlog.keys()]
    this.#behind++
    await this.#wait({ upTo, isForBacklog: true, isOver, left })
    this.#behind--
  }

  /** For a part of the backlog: resolves when the backlog that arrived before this call is opened. */
  async afterEarlierBacklog(): Promise<void> {
    if (this.#backlog.size === 0) return
    const upTo = this.#arrived
    const isOver = () => firstOf(this.#backlog) > upTo
    await this.#wait({ upTo, isForBacklog: false, isOver, left: () => upToNumber(this.#backlog, upTo) })
  }

  #wait(about: Omit<Wait, 'progressAt' | 'end'>): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#gone.aborted) this.#time.start()
      const end = () => {
        this.#waits.delete(wait)
        if (this.#waits.size === 0) this.#time.stop()
        resolve()
      }
      const wait: Wait = { ...about, progressAt: this.#time.ms, end }
      this.#waits.add(wait)
    })
  }

  /** Ends waits for which nothing was opened for too long. What they waited for is not waited for any more. */
  #giveUpStalled(): void {
    const now = this.#time.ms
    for (const wait of this.#waits) {
      if (now - wait.progressAt < stalledMs) continue
      for (const ciphertext of wait.left()) this.#forget(ciphertext)
      wait.end()
    }
    this.#notify()
  }

  /** Ends the waits that are over, and notes progress for the others. */
  #notify(opened = Infinity, isBacklog = false): void {
    const now = this.#time.ms
    for (const wait of this.#waits) {
      if (wait.isOver()) wait.end()
      else if (opened <= wait.upTo || (isBacklog && wait.isForBacklog)) wait.progressAt = now
    }
  }

  #forget(ciphertext: object): void {
    this.#unopened.delete(ciphertext)
    this.#backlog.delete(ciphertext)
  }
}

/** The number of the first arrival. Arrivals are in the order of their numbers. */
function firstOf(arrivals: ReadonlyMap<object, number>): number {
  return arrivals.values().next().value ?? Infinity
}

function upToNumber(arrivals: ReadonlyMap<object, number>, upTo: number): object[] {
  return [...arrivals].filter(([, number]) => number <= upTo).map(([ciphertext]) => ciphertext)
}
