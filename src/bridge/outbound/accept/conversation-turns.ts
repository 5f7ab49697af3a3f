// The callbacks of one conversation that wait for their turn. They start in the order of their message ids.
//
// A turn that may wait starts when two things hold: the helpdesk said which messages come before it, and the callbacks of all
// those have come. A turn that may not wait any more starts after the waiting turns with lower ids.
//
// The first callback of a burst starts at once. It may have overtaken others, so the callbacks after it also wait for
// messages before it.

export type Turn = {
  id: number
  mayWait: boolean
  /** `isReordered` says that a turn started before this one although it came later. */
  start: (isReordered: boolean) => void
}

type WaitingTurn = { turn: Turn; arrival: number }

// The first callback of a burst overtakes messages that were written just before it. All conversations share the ids.
const overtakenIds = 100

export class ConversationTurns {
  /** By id. */
  readonly #waiting: WaitingTurn[] = []
  /** Messages whose callbacks have not come yet. */
  readonly #awaited = new Set<number>()
  #lastStarted = 0
  /** What started after `#closedUpTo`. */
  readonly #started = new Set<number>()
  /** Nothing waits for messages up to this id. Null before the first turn. */
  #closedUpTo: number | null = null
  /** About messages up to this id the helpdesk was asked. */
  #askedUpTo = 0
  #arrivals = 0
  #latestStartedArrival = 0

  /** The messages after this one are not known yet; null when none is known. */
  get knownUpTo(): number | null {
    return this.#closedUpTo === null ? this.#askedUpTo || null : Math.max(this.#closedUpTo, this.#askedUpTo)
  }

  /** The highest waiting id about which the helpdesk must be asked. */
  get unasked(): number | undefined {
    return this.#waiting.findLast(({ turn: { id, mayWait } }) => mayWait && id > this.#askedUpTo)?.turn.id
  }

  /** A burst begins with this message: what was written long before is not waited for any more. */
  begin(id: number): void {
    this.#close(Math.max(this.#lastStarted, id - overtakenIds, 0))
  }

  /** Whether the message may still wait for others: it has not started, and others may wait for it. */
  isOpen(id: number): boolean {
    return id > (this.#closedUpTo ?? 0) && !this.#started.has(id)
  }

  add(turn: Turn): void {
    const before = this.#waiting.findLastIndex((each) => each.turn.id <= turn.id)
    this.#waiting.splice(before + 1, 0, { turn, arrival: ++this.#arrivals })
    this.#awaited.delete(turn.id)
    for (const { turn: next } of this.#waiting.slice(before + 1)) {
      // No message is between two neighbouring ids, so the helpdesk need not be asked.
      if (this.knownUpTo === null || next.id !== this.knownUpTo + 1) break
      this.#askedUpTo = next.id
    }
  }

  /** Whether a message that the helpdesk named must be waited for. */
  isMissing(id: number): boolean {
    return this.isOpen(id) && !this.#waiting.some(({ turn }) => turn.id === id)
  }

  /** The helpdesk named all messages up to `upTo`. The callbacks of `missing` have not come yet. */
  answered(upTo: number, missing: readonly number[]): void {
    this.#askedUpTo = Math.max(this.#askedUpTo, upTo)
    for (const id of missing) if (this.isMissing(id)) this.#awaited.add(id)
  }

  /** The helpdesk cannot say what comes before the waiting turns. */
  unanswered(): void {
    this.#askedUpTo = Math.max(this.#askedUpTo, this.#waiting.at(-1)?.turn.id ?? 0)
  }

  /** The turn has waited long enough, and so have those that must start before it. */
  giveUp(lastId: number): void {
    for (const { turn } of this.#waiting) if (turn.id <= lastId) turn.mayWait = false
    this.#close(lastId)
  }

  /** Starts what may start. */
  advance(): void {
    for (let [first] = this.#waiting; first && this.#isReady(first.turn); [first] = this.#waiting) {
      const { turn, arrival } = first
      this.#waiting.shift()
      const isReordered = turn.id > this.#lastStarted && arrival < this.#latestStartedArrival
      this.#latestStartedArrival = Math.max(this.#latestStartedArrival, arrival)
      this.#lastStarted = Math.max(this.#lastStarted, turn.id)
      if (this.isOpen(turn.id)) this.#started.add(turn.id)
      turn.start(isReordered)
    }
    const isComplete = this.#waiting.length === 0 && this.#awaited.size === 0
    if (isComplete && this.#askedUpTo > 0) this.#close(Math.min(this.#lastStarted, this.#askedUpTo))
  }

  #isReady({ id, mayWait }: Turn): boolean {
    if (!mayWait) return true
    if (id > this.#askedUpTo) return false
    for (const awaited of this.#awaited) if (awaited < id) return false
    return true
  }

  #close(upTo: number): void {
    this.#closedUpTo = Math.max(this.#closedUpTo ?? 0, upTo)
    for (const ids of [this.#started, this.#awaited]) for (const id of ids) if (id <= this.#closedUpTo) ids.delete(id)
  }
}
