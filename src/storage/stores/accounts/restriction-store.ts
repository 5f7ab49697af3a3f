// Stores until when the network lets an account write only to people that it has a chat with.

import type { InstanceName } from '../../../core/ids.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import { SharedReads } from '../../../lib/queues/shared-reads.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'

/** `until`: when it ends. `struckAt`: when a strike was last announced for it. */
export type Restriction = { until: number; struckAt: number }

export class RestrictionStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #restrictions: SharedReads<Restriction>

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#restrictions = new SharedReads(async (instances) => {
      const query = database.query.selectFrom('restrictions').selectAll().where('instance', 'in', instances)
      const rows = await database.read(query)
      return new Map(rows.map(({ instance, until, struck_at }) => [instance, { until, struckAt: struck_at }]))
    })
  }

  /** Instances that are asked for together share a read. */
  find(instance: InstanceName): Promise<Restriction | undefined> {
    return this.#restrictions.find(instance)
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
