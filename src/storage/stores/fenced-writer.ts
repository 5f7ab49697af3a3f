// Writes for an instance. They carry the hold of this process, and a write with a stale hold does nothing.

import type { Compilable } from 'kysely'
import type { InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { assertHeld, createFence, isUnexpected } from './fence.ts'
import type { Fence } from './fence.ts'
import { toStatement } from '../engine/statement.ts'
import type { Statement } from '../engine/statement.ts'

export type Step = Compilable | Statement

export class FencedWriter {
  readonly #database: Database
  readonly #holdOf: HoldOf
  readonly #fence: Fence

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#holdOf = holdOf
    this.#fence = createFence(database)
  }

  async write(instance: InstanceName, ...steps: readonly Step[]): Promise<void> {
    await this.#database.write(this.#fence(this.#holdOf(instance)), ...steps)
  }

  /** Rejects when this process does not hold the instance any more: then a failed expectation proves nothing. */
  async assertHeld(instance: InstanceName): Promise<void> {
    await assertHeld(this.#database, this.#holdOf(instance))
  }

  /** False when the update touches no row: then the steps along with it are not made either. Rejects with a stale hold. */
  async guarded(instance: InstanceName, update: Step, ...along: readonly Step[]): Promise<boolean> {
    try {
      await this.write(instance, 'compile' in update ? toStatement(update, 1) : { ...update, expect: 1 }, ...along)
      return true
    } catch (error) {
      if (!isUnexpected(error)) throw error
      await this.assertHeld(instance)
      return false
    }
  }
}
