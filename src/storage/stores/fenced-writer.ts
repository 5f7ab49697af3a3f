// Writes of the process that owns the accounts: they carry its epoch, and a write with a stale epoch does nothing.

import type { Compilable } from 'kysely'
import type { Database } from '../database.ts'
import { createLeaseFence } from './lease-store.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { StorageError, toStatement } from '../engine/statement.ts'
import type { Statement } from '../engine/statement.ts'

type Step = Compilable | Statement

export class FencedWriter {
  readonly #database: Database
  readonly #epoch: () => number
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#epoch = epoch
    this.#fence = createLeaseFence(database)
  }

  async write(...steps: readonly Step[]): Promise<void> {
    await this.#database.write(this.#fence(this.#epoch()), ...steps)
  }

  /** Repeats a removal of at most one batch until no rows are left. */
  async removeAll(removal: Step): Promise<void> {
    await deleteInBatches(async () => {
      const [, removed = 0] = await this.#database.write(this.#fence(this.#epoch()), removal)
      return removed
    })
  }

  /** False when the update touches no row: then the steps along with it are not made either. */
  async guarded(update: Step, ...along: readonly Step[]): Promise<boolean> {
    try {
      await this.write('compile' in update ? toStatement(update, 1) : { ...update, expect: 1 }, ...along)
      return true
    } catch (error) {
      if (error instanceof StorageError && error.failure === 'expectation') return false
      throw error
    }
  }
}
