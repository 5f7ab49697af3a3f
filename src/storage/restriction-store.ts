// Until when the network lets an account write only to people it has a chat with.

import type { Database } from './database.ts'
import { createLeaseFence } from './lease-store.ts'
import type { RestrictionTable } from './schema.ts'
import type { Statement } from './statement.ts'

export class RestrictionStore {
  readonly #database: Database
  readonly #epoch: () => number
  readonly #fence: (epoch: number) => Statement

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#epoch = epoch
    this.#fence = createLeaseFence(database)
  }

  async list(): Promise<RestrictionTable[]> {
    return this.#database.read(this.#database.query.selectFrom('restrictions').selectAll())
  }

  async save({ instance, ...columns }: RestrictionTable): Promise<void> {
    await this.#database.write(
      this.#fence(this.#epoch()),
      this.#database.query
        .insertInto('restrictions')
        .values({ instance, ...columns })
        .onConflict((conflict) => conflict.column('instance').doUpdateSet(columns)),
    )
  }

  async remove(instance: string): Promise<void> {
    const removal = this.#database.query.deleteFrom('restrictions').where('instance', '=', instance)
    await this.#database.write(this.#fence(this.#epoch()), removal)
  }
}
