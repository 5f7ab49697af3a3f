// The callbacks of one conversation that wait for their turn. They start in the order of their message ids.
//
// A turn that may wait starts when two things hold: the helpdesk said which messages come before it, and the callbacks of all
// those have come. A turn that may not wait any more starts after the waiting turns with lower ids.

export type Turn = {
  id: number
  mayWait: boolean
  /** `isReordered` says that a turn started before this one although it came later. */
  start: (isReordered: boolean) => void
}

type WaitingTurn = { turn: Turn; arrival: number }

export class ConversationTurns {
  /** By id. */
  readonly #waiting: WaitingTurn[] = []
  /** Messages whose callbacks have not come yet. */
  readonly #awaited = new Set<number>()
  #lastStarted = 0
  /** About messages up to this id the helpdesk was asked. */
  #askedUpTo = 0
  #arrivals = 0
  #latestStartedArrival = 0

  /** The highest id of a turn that has started; 0 before the first one. */
  get lastStarted(): number {
    return this.#lastStarted
  }

  /** The messages after this one are not known yet; null when none is known. */
  get knownUpTo(): number | null {
    return Math.max(this.#lastStarted, this.#askedUpTo) || null
  }

  /** The highest waiting id about which the helpdesk must be asked. */
  get unasked(): number | undefined {
    return this.#waiting.findLast(({ turn: { id, mayWait } }) => mayWait && id > this.#askedUpTo)?.turn.id
  }

  add(turn: Turn): void {
    const before = this.#waiting.findLastIndex((each) => each.turn.id <= turn.id)
    this.#waiting.splice(before + 1, 0, { turn, arrival: ++this.#arrivals })
    this.#awaited.delete(turn.id)
  }

  /** Whether a message that the helpdesk named must be waited for. */
  isMissing(id: number): boolean {
    return id > this.#lastStarted && !this.#waiting.some(({ turn }) => turn.id === id)
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
  }

  /** Starts what may start. */
  advance(): void {
    for (let [first] = this.#waiting; first && this.#isReady(first.turn); [first] = this.#waiting) {
      const { turn, arrival } = first
      this.#waiting.shift()
      const isReordered = turn.id > this.#lastStarted && arrival < this.#latestStartedArrival
      this.#latestStartedArrival = Math.max(this.#latestStartedArrival, arrival)
      this.#lastStarted = Math.max(this.#lastStarted, turn.id)
      turn.start(isReordered)
    }
    for (const id of this.#awaited) if (id <= this.#lastStarted) this.#awaited.delete(id)
  }

  #isReady({ id, mayWait }: Turn): boolean {
    if (!mayWait || id <= this.#lastStarted) return true
    if (id > this.#askedUpTo) return false
    for (const awaited of this.#awaited) if (awaited > this.#lastStarted && awaited < id) return false
    return true
  }
}
