// Runs pieces of work one after the other, in the order they were asked for.

import { ignoreRejection } from './ignore.ts'

export class Lane {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    // A failure belongs to who asked for the work; the next piece runs all the same.
    this.#last = turn.catch(ignoreRejection)
    return turn
  }

  /** Resolves when everything asked for so far has settled. */
  async idle(): Promise<void> {
    await this.#last
  }
}
