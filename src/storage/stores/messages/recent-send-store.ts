// Reads which messages left lately. The guards of the accounts count them again after a restart.

import { sql } from 'kysely'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { Database } from '../../database.ts'

/** What became of one message: its parts that left, and those that the network refused. */
export type RecentSend = { instance: InstanceName; recipient: Jid; settledAt: number; sent: number; refused: number }

/** Far more than the limits of all guards. */
const most = 100_000

export class RecentSendStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Of all instances, the oldest first. */
  async since(at: number): Promise<RecentSend[]> {
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('outbox')
        .select(['instance', 'remote_jid', 'parts', 'settled_at'])
        .where('settled_at', '>=', at)
        // Not the column alone: SQLite would read all rows that were ever sent instead of the rows since then.
        .where(sql`status || ''`, 'in', ['sent', 'failed'])
        .orderBy('settled_at', 'desc')
        .limit(most),
    )
    return rows.reverse().map(({ instance, remote_jid, parts, settled_at }) => {
      const states = (JSON.parse(parts) as OutboxPart[]).map(({ state }) => state)
      const count = (state: OutboxPart['state']) => states.filter((each) => each === state).length
      const counts = { sent: count('sent'), refused: count('refused') }
      return { instance, recipient: remote_jid, settledAt: settled_at ?? at, ...counts }
    })
  }
}
