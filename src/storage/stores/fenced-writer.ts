// Writes for an instance. They carry the hold of this process, and a write with a stale hold does nothing.

import type { InstanceName } from '../../core/ids.ts'
import type { WriterHoldOf } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { createFence, isUnexpected, writeHeld } from './fence.ts'
import type { Fence, Step } from './fence.ts'
import { toStatement } from '../engine/statement.ts'

export class FencedWriter {
  readonly #database: Database
  readonly #holdOf: WriterHoldOf
  readonly #fence: Fence

  constructor(database: Database, holdOf: WriterHoldOf) {
    this.#database = database
    this.#holdOf = holdOf
    this.#fence = createFence(database)
  }

  /** Rejects with a `NotHeldError` when this process does not hold the instance any more. */
  async write(instance: InstanceName, ...steps: readonly Step[]): Promise<void> {
    await this.count(instance, ...steps)
  }

  /** As `write`. Returns how many rows each step touched. */
  async count(instance: InstanceName, ...steps: readonly Step[]): Promise<number[]> {
    const [, ...touched] = await writeHeld(this.#database, this.#fence, this.#holdOf(instance), ...steps)
    return touched
  }

  /** False when the update touches no row: then the steps along with it are not made either. Rejects with a `NotHeldError` likewise. */
  async guarded(instance: InstanceName, update: Step, ...along: readonly Step[]): Promise<boolean> {
    try {
      await this.write(instance, 'compile' in update ? toStatement(update, 1) : { ...update, expect: 1 }, ...along)
      return true
    } catch (error) {
      if (!isUnexpected(error)) throw error
      return false
    }
  }
}
