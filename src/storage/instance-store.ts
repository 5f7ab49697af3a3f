// The records of the linked accounts. Changes carry the owner's epoch: only the process that owns the accounts makes them.

import type { AuditRecord } from '../core/audit.ts'
import { auditInsert } from './audit-store.ts'
import type { Database } from './database.ts'
import { leaseFence } from './lease-store.ts'
import type { InstanceChanges, InstanceRow, KeptSession, NewInstanceRow } from './schema.ts'
import { toStatement } from './statement.ts'

export class InstanceStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<InstanceRow[]> {
    return this.#database.read(
      this.#database.query
        .selectFrom('instances')
        .selectAll()
        .orderBy('name', (order) => this.#database.inByteOrder(order)),
    )
  }

  /** A record with a session has taken up the one that was kept under its name. */
  async insert(epoch: number, row: NewInstanceRow, audit: AuditRecord): Promise<void> {
    const { query } = this.#database
    const resumed = row.session_id != null
    await this.#database.write(
      leaseFence(this.#database, epoch),
      query.insertInto('instances').values(row),
      ...(resumed ? [query.deleteFrom('kept_sessions').where('name', '=', row.name)] : []),
      auditInsert(this.#database, audit),
    )
  }

  async update(
    epoch: number,
    name: string,
    changes: InstanceChanges,
    audits: readonly AuditRecord[] = [],
  ): Promise<void> {
    const update = this.#database.query.updateTable('instances').set(changes).where('name', '=', name)
    await this.#database.write(
      leaseFence(this.#database, epoch),
      toStatement(update, 1),
      ...audits.map((audit) => auditInsert(this.#database, audit)),
    )
  }

  /** Removes the record; a linked session is kept for a while, so that the name can be resumed. */
  async remove(epoch: number, name: string, keep: KeptSession | null, audit: AuditRecord): Promise<void> {
    const { query } = this.#database
    await this.#database.write(
      leaseFence(this.#database, epoch),
      toStatement(query.deleteFrom('instances').where('name', '=', name), 1),
      ...(keep ? [query.insertInto('kept_sessions').values(keep)] : []),
      auditInsert(this.#database, audit),
    )
  }

  /** The sessions kept under this name since then, newest first. */
  async keptSessions(name: string, since = 0): Promise<KeptSession[]> {
    const kept = this.#database.query.selectFrom('kept_sessions').selectAll()
    return this.#database.read(kept.where('name', '=', name).where('kept_at', '>=', since).orderBy('kept_at', 'desc'))
  }

  async dropKeptSessions(epoch: number, name: string): Promise<void> {
    const removal = this.#database.query.deleteFrom('kept_sessions').where('name', '=', name)
    await this.#database.write(leaseFence(this.#database, epoch), removal)
  }

  /** Forgets sessions kept before `time`, and the keys of every session that nothing refers to any more. */
  async dropOrphans(epoch: number, time: number): Promise<void> {
    const { query } = this.#database
    const referred = query
      .selectFrom('kept_sessions')
      .select('session_id')
      .unionAll(
        query
          .selectFrom('instances')
          .select('session_id')
          .where('session_id', 'is not', null)
          .$castTo<{ session_id: string }>(),
      )
      .unionAll(
        query
          .selectFrom('instances')
          .select('pairing_session_id as session_id')
          .where('pairing_session_id', 'is not', null)
          .$castTo<{ session_id: string }>(),
      )
    await this.#database.write(
      leaseFence(this.#database, epoch),
      query.deleteFrom('kept_sessions').where('kept_at', '<', time),
      query.deleteFrom('session_keys').where('session_id', 'not in', referred),
    )
  }
}
