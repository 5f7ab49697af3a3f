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

  /** Of messages to WhatsApp that are not sent yet. Looks at one row for each instance and status, however many wait. */
  async outgoing(): Promise<OldestTimes> {
    const query = this.#database.query.selectFrom('instances').select((builder) => {
      const oldestWith = (status: 'pending' | 'sending') =>
        builder
          .selectFrom('outbox')
          .select('outbox.created_at')
          .whereRef('outbox.instance', '=', 'instances.name')
          .where('outbox.status', '=', status)
          .orderBy('outbox.id')
          .limit(1)
          .as(status)
      return ['instances.name', oldestWith('pending'), oldestWith('sending')]
    })
    const rows = await this.#database.read(query)
    const oldestOf = (times: readonly (number | null)[]) => Math.min(...times.filter((time) => time !== null))
    return new Map(
      rows.flatMap(({ name, pending, sending }) => {
        const oldest = oldestOf([pending, sending])
        return oldest === Infinity ? [] : [[name, oldest]]
      }),
    )
  }
}
