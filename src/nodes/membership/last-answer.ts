// The answer to the last beat that went through, and what it changed.

import type { BeatAnswer, SeenNode } from '../../core/nodes/node.ts'
import type { Clock } from '../../lib/clock.ts'

/** `isSetBack`: the database does not know an earlier beat of this node any more. */
type Changes = { isSetBack: boolean; areSettingsNew: boolean }

export class LastAnswer {
  readonly #clock: Clock
  #answer: BeatAnswer | undefined
  #heard = 0
  /** The own beat; null before the first one under the current id. */
  #mine: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Every living node, this one included. */
  get nodes(): readonly SeenNode[] {
    return this.#answer?.nodes ?? []
  }

  /** How many instances no node holds. */
  get free(): number {
    return this.#answer?.free ?? 0
  }

  /** All that were free when the nodes were seen like this have a node now. A later answer has counted them itself. */
  noteNoneFree(seen: readonly SeenNode[]): void {
    if (this.#answer?.nodes === seen) this.#answer = { ...this.#answer, free: 0 }
  }

  /** Epoch milliseconds on the clock of the database; on the clock of this machine before the first answer. */
  databaseNow(): number {
    if (!this.#answer) return this.#clock.now()
    return Math.round(this.#answer.now + (this.#clock.monotonic() - this.#heard))
  }

  note(answer: BeatAnswer, heard: number): Changes {
    const before = this.#answer
    const isSetBack = this.#mine !== null && answer.mine !== null && answer.mine <= this.#mine
    this.#answer = answer
    this.#heard = heard
    this.#mine = answer.mine
    return { isSetBack, areSettingsNew: before !== undefined && before.settings !== answer.settings }
  }

  /** The next beats count from the beginning: the node has another id. */
  forgetBeat(): void {
    this.#mine = null
  }
}
