// The append-only audit log; triggers in the database refuse to change or remove a row.

import type { InsertQueryBuilder, InsertResult, Selectable } from 'kysely'
import type { AuditRecord } from '../../../core/audit.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import type { AuditTable } from '../../schema/ledger.ts'

export type AuditEntry = Required<Omit<AuditRecord, 'action' | 'actor' | 'key'>> & {
  id: number
  action: string
  actor: string
}

export type AuditFilter = { instance?: InstanceName; ownerTag?: string; limit: number }

/** What the API reads unless asked, and at most. */
const [usualLimit, mostLimit] = [100, 500]
const shownColumns = ['id', 'ts', 'actor', 'action', 'instance', 'owner_tag', 'target', 'metadata'] as const
type ShownColumn = (typeof shownColumns)[number]

export class AuditStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async append(record: AuditRecord): Promise<void> {
    await this.#database.write(auditInsert(this.#database, record))
  }

  /** Newest first. */
  async list({ instance, ownerTag, limit }: AuditFilter): Promise<AuditEntry[]> {
    // The limit comes from a request. Each number would be a statement of its own, and the engine remembers only some hundreds.
    const read = limit <= usualLimit ? usualLimit : Math.max(limit, mostLimit)
    let query = this.#database.query.selectFrom('audit').select(shownColumns).orderBy('id', 'desc').limit(read)
    if (instance !== undefined) query = query.where('instance', '=', instance)
    if (ownerTag !== undefined) query = query.where('owner_tag', '=', ownerTag)
    return (await this.#database.read(query)).slice(0, limit).map(toEntry)
  }

  /** The entries of the instance whose key begins with the text, oldest first. The text has no `%`, `_` or backslash. */
  async listByKey(instance: InstanceName, beginning: string): Promise<AuditEntry[]> {
    const query = this.#database.query.selectFrom('audit').select(shownColumns).where('instance', '=', instance)
    const keyed = query.where('entry_key', 'like', `${beginning}%`)
    return (await this.#database.read(keyed.orderBy('id'))).map(toEntry)
  }
}

function toEntry({ ts, owner_tag, metadata, ...rest }: Pick<Selectable<AuditTable>, ShownColumn>): AuditEntry {
  return { ...rest, at: ts, ownerTag: owner_tag, metadata: JSON.parse(metadata) as AuditEntry['metadata'] }
}

/**
 * A step of a write: the entry is stored together with the change that it describes, or not at all. An entry whose key is
 * stored already is left out.
 */
export function auditInsert(
  { query }: Database,
  { at, actor, action, instance, ownerTag, target, key, metadata }: AuditRecord,
): InsertQueryBuilder<Schema, 'audit', InsertResult> {
  return query
    .insertInto('audit')
    .values({
      ts: at,
      actor,
      action,
      instance: instance ?? '',
      owner_tag: ownerTag ?? '',
      target: target ?? '',
      metadata: JSON.stringify(metadata ?? {}),
      entry_key: key ?? null,
    })
    .onConflict((known) => known.doNothing())
}
