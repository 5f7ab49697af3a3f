// Writes that belong to no instance, such as sweeps of whole tables. They carry the hold of the process itself.

import type { NodeHold } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { createFence } from './fence.ts'
import type { Fence, Step } from './fence.ts'

export class NodeWriter {
  readonly #database: Database
  readonly #nodeHold: () => NodeHold
  readonly #fence: Fence

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#nodeHold = nodeHold
    this.#fence = createFence(database)
  }

  async write(...steps: readonly Step[]): Promise<void> {
    await this.#database.write(this.#fence(this.#nodeHold()), ...steps)
  }

  /** Repeats a removal of at most one batch until no rows are left. */
  async removeAll(removal: Step): Promise<void> {
    await deleteInBatches(async () => {
      const [, removed = 0] = await this.#database.write(this.#fence(this.#nodeHold()), removal)
      return removed
    })
  }
}
