// When each instance last received and sent a message.

import type { InstanceName } from '../../../core/ids.ts'
import type { LastMessageTimes } from '../../../core/live.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import { SharedReads } from '../../../lib/queues/shared-reads.ts'
import type { Database } from '../../database.ts'
import { NodeWriter } from '../node-writer.ts'

export class LastMessageStore {
  readonly #database: Database
  readonly #writer: NodeWriter
  readonly #times: SharedReads<LastMessageTimes>

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
    this.#times = new SharedReads(async (instances) => {
      const query = database.query.selectFrom('last_messages').select(['instance', 'in_at', 'out_at'])
      const rows = await database.read(query.where('instance', 'in', instances))
      return new Map(rows.map(({ instance, in_at, out_at }) => [instance, { inAt: in_at, outAt: out_at }]))
    })
  }

  /** Instances that are asked for together share a read. */
  find(instance: InstanceName): Promise<LastMessageTimes | undefined> {
    return this.#times.find(instance)
  }

  /** Takes the place of what was stored for these instances, in one commit for all. */
  async put(times: ReadonlyMap<InstanceName, LastMessageTimes>): Promise<void> {
    const { query } = this.#database
    const puts = [...times].map(([instance, { inAt: in_at, outAt: out_at }]) =>
      query
        .insertInto('last_messages')
        .values({ instance, in_at, out_at })
        .onConflict((known) => known.column('instance').doUpdateSet({ in_at, out_at })),
    )
    if (puts.length > 0) await this.#writer.write(...puts)
  }
}
