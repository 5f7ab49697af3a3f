// Runs pieces of work one after the other, in the order of the calls.

import { ignoreRejection } from '../ignore.ts'

export class Lane {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    // The caller sees a failure; the next piece runs all the same.
    this.#last = turn.catch(ignoreRejection)
    return turn
  }

  /** Resolves when all work so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
