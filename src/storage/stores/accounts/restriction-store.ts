// Stores until when the network lets an account write only to people that it has a chat with.

import type { InstanceName } from '../../../core/ids.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'

/** `until`: when it ends. `struckAt`: when a strike was last announced for it. */
export type Restriction = { until: number; struckAt: number }

export class RestrictionStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  async find(instance: InstanceName): Promise<Restriction | undefined> {
    const query = this.#database.query.selectFrom('restrictions').selectAll().where('instance', '=', instance)
    const [found] = await this.#database.read(query)
    return found && { until: found.until, struckAt: found.struck_at }
  }

  async save(instance: InstanceName, { until, struckAt }: Restriction): Promise<void> {
    const columns = { until, struck_at: struckAt }
    await this.#writer.write(
      instance,
      this.#database.query
        .insertInto('restrictions')
        .values({ instance, ...columns })
        .onConflict((conflict) => conflict.column('instance').doUpdateSet(columns)),
    )
  }
}
