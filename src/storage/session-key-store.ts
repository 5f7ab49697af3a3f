// The keys of the linked sessions. Every write carries the owner's epoch: a process that lost the lease writes nothing.

import type { Database } from './database.ts'
import { leaseFence } from './lease-store.ts'
import { sessionKeySecrets } from './schema.ts'
import { placeOf } from './statement.ts'

export type SessionKey = { kind: string; id: string; value: Uint8Array }
export type SessionKeyWrite = { kind: string; id: string; value: Uint8Array | null }

export class SessionKeyStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async load(sessionId: string, kind: string, ids: readonly string[]): Promise<SessionKey[]> {
    if (ids.length === 0) return []
    const query = this.#database.query
      .selectFrom('session_keys')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('kind', '=', kind)
      .where('key_id', 'in', ids)
    const rows = await this.#database.read(query, sessionKeySecrets)
    return rows.map((row) => ({ kind: row.kind, id: row.key_id, value: row.value }))
  }

  /** All writes or none; null removes a key. Rejects when `epoch` is no longer the lease's. */
  async save(epoch: number, sessionId: string, writes: readonly SessionKeyWrite[]): Promise<void> {
    await this.#database.write(
      leaseFence(this.#database, epoch),
      ...writes.map((write) => this.#writeStep(sessionId, write)),
    )
  }

  async dropSession(epoch: number, sessionId: string): Promise<void> {
    await this.#database.write(
      leaseFence(this.#database, epoch),
      this.#database.query.deleteFrom('session_keys').where('session_id', '=', sessionId),
    )
  }

  #writeStep(sessionId: string, { kind, id, value }: SessionKeyWrite) {
    const { query } = this.#database
    if (value === null) {
      return query
        .deleteFrom('session_keys')
        .where('session_id', '=', sessionId)
        .where('kind', '=', kind)
        .where('key_id', '=', id)
    }
    const place = placeOf(sessionKeySecrets.table, [sessionId, kind, id], 'value')
    const sealed = { seal: value, place }
    return query
      .insertInto('session_keys')
      .values({ session_id: sessionId, kind, key_id: id, value: sealed })
      .onConflict((conflict) => conflict.columns(['session_id', 'kind', 'key_id']).doUpdateSet({ value: sealed }))
  }
}
