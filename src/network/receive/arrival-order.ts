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

/** One stanza and its ciphertexts that are not opened yet. `next` is the wait of the next stanza of the chat. */
type Arrival = { chat: Jid; number: number; left: Set<object>; next?: Wait }
type Wait = {
  /** The wait goes on while arrivals up to this number are opened now and then. */
  upTo: number
  /** It also goes on while later arrivals of the backlog are opened. */
  isForBacklog: boolean
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
const nothing = { lowest: Infinity, isBacklog: false }

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
  /** The waits for more than one arrival, and whether they are over. The others are ended by their arrival. */
  readonly #wideWaits = new Map<Wait, () => boolean>()
  /** The last arrival of each chat, while it is not opened. */
  readonly #newest = new Map<Jid, Arrival>()
  #arrived = 0
  /** What was opened since the last slice of time: the lowest number, and whether some of it belongs to the backlog. */
  #openedLately = nothing
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
    this.#endWideWaits()
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
    return new Promise((resolve) => {
      before.next = this.#wait({ upTo: before.number, isForBacklog: false, left: () => [...before.left] }, resolve)
    })
  }

  /** To be called when the ciphertext is opened, or cannot be opened. */
  done(ciphertext: object): void {
    const { lowest, isBacklog } = this.#openedLately
    const number = this.#unopened.get(ciphertext) ?? Infinity
    this.#openedLately = {
      lowest: Math.min(lowest, number),
      isBacklog: isBacklog || this.#backlog.has(ciphertext),
    }
    this.#forget(ciphertext)
    this.#openedOf(this.#arrivals.get(ciphertext), ciphertext)
    this.#endWideWaits()
  }

  /** Resolves when everything that arrived before this call is opened, and all of the backlog. */
  async afterEarlier(): Promise<void> {
    if (this.#unopened.size === 0 && !this.#isBacklogComing) return
    const upTo = this.#arrived
    const isOver = () => !this.#isBacklogComing && this.#backlog.size === 0 && firstOf(this.#unopened) > upTo
    const left = () => [...upToNumber(this.#unopened, upTo), ...this.#backlog.keys()]
    this.#behind++
    await this.#waitUntil(isOver, { upTo, isForBacklog: true, left })
    this.#behind--
  }

  /** For a part of the backlog: resolves when the backlog that arrived before this call is opened. */
  async afterEarlierBacklog(): Promise<void> {
    if (this.#backlog.size === 0) return
    const upTo = this.#arrived
    const isOver = () => firstOf(this.#backlog) > upTo
    await this.#waitUntil(isOver, { upTo, isForBacklog: false, left: () => upToNumber(this.#backlog, upTo) })
  }

  #openedOf(arrival: Arrival | undefined, ciphertext: object): void {
    arrival?.left.delete(ciphertext)
    if (arrival?.left.size !== 0) return
    if (this.#newest.get(arrival.chat) === arrival) this.#newest.delete(arrival.chat)
    arrival.next?.end()
  }

  #waitUntil(isOver: () => boolean, about: Omit<Wait, 'progressAt' | 'end'>): Promise<void> {
    return new Promise((resolve) => {
      this.#wideWaits.set(this.#wait(about, resolve), isOver)
    })
  }

  #wait(about: Omit<Wait, 'progressAt' | 'end'>, resolve: () => void): Wait {
    if (!this.#gone.aborted) this.#time.start()
    if (this.#waits.size === 0) this.#openedLately = nothing
    const end = () => {
      this.#wideWaits.delete(wait)
      this.#waits.delete(wait)
      if (this.#waits.size === 0) this.#time.stop()
      resolve()
    }
    const wait: Wait = { ...about, progressAt: this.#time.ms, end }
    this.#waits.add(wait)
    return wait
  }

  /** Ends waits for which nothing was opened for too long. What they waited for is not waited for any more. */
  #giveUpStalled(): void {
    const now = this.#time.ms
    const { lowest, isBacklog } = this.#openedLately
    this.#openedLately = nothing
    for (const wait of this.#waits) {
      if (lowest <= wait.upTo || (isBacklog && wait.isForBacklog)) wait.progressAt = now
      if (now - wait.progressAt < stalledMs) continue
      for (const ciphertext of wait.left()) this.#forget(ciphertext)
      wait.end()
    }
    this.#endWideWaits()
  }

  #endWideWaits(): void {
    for (const [wait, isOver] of this.#wideWaits) if (isOver()) wait.end()
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
