// What deleted instances left: events to deliver and sessions to log out. The parts go on with it after a deletion, and look for
// what other nodes have deleted.

import type { Duties } from '../../core/nodes/duties.ts'
import { runAll } from '../../lib/run-all.ts'

type Part = { takeDeleted(): Promise<void> }

export class DeletedInstances {
  readonly #parts: readonly Part[]
  readonly #duties: Pick<Duties, 'held'>
  /** A deletion by this process was not followed by every part. */
  #isDue = false

  constructor(parts: readonly Part[], duties: Pick<Duties, 'held'>) {
    this.#parts = parts
    this.#duties = duties
  }

  /** This process has deleted an instance. */
  async deleted(): Promise<void> {
    this.#isDue = true
    await this.#take()
  }

  /** The only process on its database knows of every deletion, so that a look costs it no read. */
  async look(): Promise<void> {
    if (this.#isDue || this.#duties.held() !== 'all') await this.#take()
  }

  async #take(): Promise<void> {
    // Before the work: a deletion meanwhile sets it again.
    this.#isDue = false
    try {
      await runAll(this.#parts.map((part) => () => part.takeDeleted()))
    } catch (error) {
      this.#isDue = true
      throw error
    }
  }
}
