// Reads for the metrics since when the oldest message of each instance waits, in one query for all instances.

import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { lateFile } from '../messages/inbox-store.ts'

/** Epoch milliseconds. An instance without a waiting message is not in it. */
export type OldestTimes = ReadonlyMap<InstanceName, number>

export class QueueAgeStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Of received messages that the helpdesk does not have yet. Looks at one row for each instance, however many wait, and at the
   * older rows that only wait for a file.
   */
  async received(): Promise<OldestTimes> {
    const query = this.#database.query.selectFrom('instances').select((builder) => [
      'instances.name',
      builder
        .selectFrom('inbox')
        .select('inbox.received_at')
        .whereRef('inbox.instance', '=', 'instances.name')
        .where('inbox.state', '=', 'pending')
        .where('inbox.kind', '!=', lateFile)
        // Ids consist of digits and small letters, which every collation sorts alike. The index has the default one.
        .orderBy('inbox.id')
        .limit(1)
        .as('oldest'),
    ])
    const rows = await this.#database.read(query)
    return new Map(rows.flatMap(({ name, oldest }) => (oldest === null ? [] : [[name, oldest]])))
  }

  /** Of messages to WhatsApp that are not sent yet. An instance has few of them, and their number is limited. */
  async outgoing(): Promise<OldestTimes> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['instance', ({ fn }) => fn.min('created_at').as('oldest')])
      .where('status', 'in', ['pending', 'sending'])
      .groupBy('instance')
    return new Map((await this.#database.read(query)).map(({ instance, oldest }) => [instance, oldest]))
  }
}
