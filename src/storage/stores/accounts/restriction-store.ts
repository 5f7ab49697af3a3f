// Until when the network lets an account write only to people it has a chat with.

import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import type { RestrictionTable } from '../../schema.ts'

export class RestrictionStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
  }

  async list(): Promise<RestrictionTable[]> {
    return this.#database.read(this.#database.query.selectFrom('restrictions').selectAll())
  }

  async find(instance: InstanceName): Promise<RestrictionTable | undefined> {
    const found = this.#database.query.selectFrom('restrictions').selectAll().where('instance', '=', instance)
    return (await this.#database.read(found)).at(0)
  }

  async save({ instance, ...columns }: RestrictionTable): Promise<void> {
    await this.#writer.write(
      this.#database.query
        .insertInto('restrictions')
        .values({ instance, ...columns })
        .onConflict((conflict) => conflict.column('instance').doUpdateSet(columns)),
    )
  }

  async remove(instance: string): Promise<void> {
    await this.#writer.write(this.#database.query.deleteFrom('restrictions').where('instance', '=', instance))
  }
}
