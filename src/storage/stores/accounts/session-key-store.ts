// The keys of the linked sessions. Every write carries a hold: a process that lost the session writes nothing. Sessions that only
// log out belong to no instance, so their writes carry the hold of the process.

import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { compileReadOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import { batchSize, deleteInBatches } from '../delete-in-batches.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { sessionKeySecrets } from '../../schema/accounts.ts'
import { placeOf, toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

export type SessionKey = { kind: string; id: string; value: Uint8Array }
export type SessionKeyWrite = { kind: string; id: string; value: Uint8Array | null }

/** Marks a session that comes from a backup: its keys may have been used since. */
export const restoredMark = { kind: 'restored', id: 'mark' } as const

export class SessionKeyStore {
  readonly #database: Database
  readonly #fence: Fence
  readonly #upsert: string
  readonly #removal: string
  readonly #one: ReturnType<typeof compileOne>

  // The busiest statements of the service are compiled once; only their parameters change.
  constructor(database: Database) {
    const { query } = database
    const value = { seal: new Uint8Array(), place: '' }
    this.#database = database
    this.#fence = createFence(database)
    this.#one = compileOne(database)
    this.#upsert = toStatement(
      query
        .insertInto('session_keys')
        .values({ session_id: '', kind: '', key_id: '', value })
        .onConflict((conflict) =>
          conflict
            .columns(['session_id', 'kind', 'key_id'])
            .doUpdateSet(({ eb }) => ({ value: eb.ref('excluded.value') })),
        ),
    ).sql
    this.#removal = toStatement(
      query.deleteFrom('session_keys').where('session_id', '=', '').where('kind', '=', '').where('key_id', '=', ''),
    ).sql
  }

  async load(sessionId: string, kind: string, ids: readonly string[]): Promise<SessionKey[]> {
    const [first] = ids
    if (first === undefined) return []
    const several = () =>
      this.#database.query
        .selectFrom('session_keys')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('kind', '=', kind)
        .where('key_id', 'in', ids)
    const query = ids.length === 1 ? this.#one({ session_id: sessionId, kind, key_id: first }) : several()
    const rows = await this.#database.read(query, sessionKeySecrets)
    return rows.map((row) => ({ kind: row.kind, id: row.key_id, value: row.value }))
  }

  /** The ids of all keys of one kind, without their values. */
  async idsOf(sessionId: string, kind: string): Promise<string[]> {
    const query = this.#database.query
      .selectFrom('session_keys')
      .select('key_id')
      .where('session_id', '=', sessionId)
      .where('kind', '=', kind)
    return (await this.#database.read(query)).map(({ key_id }) => key_id)
  }

  /** All writes or none, `more` included; null removes a key. Rejects with a stale hold. */
  async save(
    hold: Hold | NodeHold,
    sessionId: string,
    writes: readonly SessionKeyWrite[],
    more: readonly Statement[] = [],
  ): Promise<void> {
    const steps = writes.map((write) => this.#writeStep(sessionId, write))
    await this.#database.write(this.#fence(hold), ...steps, ...more)
  }

  /** Removes the keys and the opened envelopes. Received events stay: they belong to the instance. */
  async dropSession(hold: Hold | NodeHold, sessionId: string): Promise<void> {
    await dropSessionRows(this.#database, this.#fence(hold), sessionId)
  }

  #writeStep(sessionId: string, { kind, id, value }: SessionKeyWrite): Statement {
    const key = [sessionId, kind, id]
    if (value === null) return { sql: this.#removal, parameters: key }
    const place = placeOf(sessionKeySecrets.table, key, 'value')
    return { sql: this.#upsert, parameters: [...key, { seal: value, place }] }
  }
}

function compileOne({ query }: Database) {
  return compileReadOnce(['session_id', 'kind', 'key_id'], ({ session_id, kind, key_id }) =>
    query
      .selectFrom('session_keys')
      .selectAll()
      .where('session_id', '=', session_id)
      .where('kind', '=', kind)
      .where('key_id', '=', key_id),
  )
}

/**
 * Credentials go first: without them the session is void. Keys go last: after a crash the rest is found by its keys. Rows go
 * only while `condition` holds.
 */
export async function dropSessionRows(
  database: Database,
  fence: Statement,
  sessionId: string,
  condition: RawBuilder<boolean> = sql<boolean>`1 = 1`,
): Promise<void> {
  const { query } = database
  const keys = query.deleteFrom('session_keys').where('session_id', '=', sessionId).where(condition)
  const unfinished = query.deleteFrom('unfinished').where('session_id', '=', sessionId).where(condition)
  await database.write(fence, keys.where('kind', '=', 'creds'), unfinished)
  const someKeys = query
    .selectFrom('session_keys')
    .select(['kind', 'key_id'])
    .where('session_id', '=', sessionId)
    .limit(batchSize)
  const someOpened = query.selectFrom('opened').select('envelope').where('session_id', '=', sessionId).limit(batchSize)
  const removals = [
    query.deleteFrom('opened').where('session_id', '=', sessionId).where('envelope', 'in', someOpened).where(condition),
    keys.where((eb) => eb(eb.refTuple('kind', 'key_id'), 'in', someKeys.$asTuple('kind', 'key_id'))),
  ]
  for (const removal of removals) {
    await deleteInBatches(async () => {
      const [, removed = 0] = await database.write(fence, removal)
      return removed
    })
  }
}
