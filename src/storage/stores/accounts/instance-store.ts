// The records of the linked accounts. Every change carries the hold of its instance: only its holder makes changes.

import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { AuditRecord } from '../../../core/audit.ts'
import type { Delivery } from '../../../core/lifecycle/delivery.ts'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import type { Database } from '../../database.ts'
import { deliveryInserts } from '../ledger/delivery-store.ts'
import { assignmentInsert, assignmentRemoval, settingsChanged } from '../nodes/assignment-steps.ts'
import { jobRemovals } from '../jobs/job-store.ts'
import { createFence, unshared, writeHeld } from '../fence.ts'
import type { Fence, Step } from '../fence.ts'
import { pendingLogoutInserts } from './pending-logout-store.ts'
import type { PendingLogout } from './pending-logout-store.ts'
import { dropSessionRows } from './session-key-store.ts'
import { getOrCreate } from '../../../lib/keyed.ts'
import { compileOnce } from '../../compile-once.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Scalar, Secret, Statement } from '../../engine/statement.ts'
import { instanceSecrets, keptSessionSecrets } from '../../schema/accounts.ts'
import { toInstanceColumns, toInstanceRow, toKeptSession, toKeptSessionColumns, toNewColumns } from './instance-rows.ts'
import type { InstanceChanges, InstanceRow, KeptSession } from './instance-rows.ts'

/** Stored in the same commit as a record. */
type Along = {
  audits?: readonly AuditRecord[]
  deliveries?: readonly Delivery[]
  logouts?: readonly PendingLogout[]
}

type Update = (values: Record<string, Scalar | Secret>) => Statement

/** An account has about ten. A caller who changes settings can name others. */
const mostUpdates = 100

export class InstanceStore {
  readonly #database: Database
  readonly #fence: Fence
  /** By the columns that they set. */
  readonly #updates = new Map<string, Update>()

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  async list(): Promise<InstanceRow[]> {
    const stored = await this.#database.read(
      this.#database.query
        .selectFrom('instances')
        .selectAll()
        .orderBy('name', (order) => this.#database.inByteOrder(order)),
      instanceSecrets,
    )
    return stored.map(toInstanceRow)
  }

  async find(name: InstanceName): Promise<InstanceRow | undefined> {
    const query = this.#database.query.selectFrom('instances').selectAll().where('name', '=', name)
    const [stored] = await this.#database.read(query, instanceSecrets)
    return stored && toInstanceRow(stored)
  }

  /**
   * The instance belongs to this node from then on. A record with a session has resumed the session that was kept under its
   * name. Events and history that were stored for an earlier instance of this name are removed.
   */
  async insert({ node, epoch }: NodeHold, row: InstanceRow, audit: AuditRecord): Promise<void> {
    const { query } = this.#database
    const isResumed = row.sessionId !== null
    await this.#writeRecord(
      { node, epoch },
      query.insertInto('instances').values(toNewColumns(row)),
      ...assignmentInsert(this.#database, row.name, node, this.#database.now),
      ...settingsChanged(this.#database),
      query.deleteFrom('inbox').where('instance', '=', row.name),
      query.deleteFrom('history_messages').where('instance', '=', row.name),
      query.deleteFrom('history_chats').where('instance', '=', row.name),
      query.deleteFrom('state_changes').where('instance', '=', row.name),
      query.deleteFrom('last_messages').where('instance', '=', row.name),
      ...(isResumed ? [query.deleteFrom('kept_sessions').where('name', '=', row.name)] : []),
      auditInsert(this.#database, audit),
    )
  }

  async update(hold: Hold, changes: InstanceChanges, along: Along): Promise<void> {
    const { audits = [] } = along
    const { instance: name } = hold
    const isEmpty = Object.keys(changes).length === 0
    const { linkedJid = null } = changes
    const isOwnChange = linkedJid === null && audits.length === 0
    await writeHeld(
      this.#database,
      isOwnChange ? this.#fence : unshared(this.#fence),
      hold,
      ...(linkedJid === null ? [] : this.#dropHistoryOfOthers(name, linkedJid)),
      ...(isEmpty ? [] : [this.#updateOf(name, changes)]),
      // Only what a caller asks for is audited, and a state that changes by itself concerns no other node.
      ...(audits.length === 0 ? [] : settingsChanged(this.#database)),
      ...this.#along(along),
    )
  }

  #updateOf(name: InstanceName, changes: InstanceChanges): Statement {
    const columns = toInstanceColumns(name, changes) as Record<string, Scalar | Secret>
    const names = Object.keys(columns)
    const update = getOrCreate(this.#updates, names.join(), () => {
      if (this.#updates.size >= mostUpdates) this.#updates.clear()
      return compileUpdate(this.#database, names)
    })
    return { ...update({ ...columns, name }), expect: 1 }
  }

  /** Rejects with a `NotHeldError` when the hold is stale: the caller repeats any other failure. */
  async #writeRecord(hold: Hold | NodeHold, ...steps: readonly Step[]): Promise<void> {
    await writeHeld(this.#database, unshared(this.#fence), hold, ...steps)
  }

  /** Another number is linked: the history of the number before must not be imported as its own. */
  #dropHistoryOfOthers(name: InstanceName, linkedJid: Jid) {
    const { query } = this.#database
    const other = query
      .selectFrom('instances')
      .select('name')
      .where('name', '=', name)
      .where('linked_jid', '<>', linkedJid)
    return [
      query
        .deleteFrom('history_messages')
        .where('instance', '=', name)
        .where((row) => row.exists(other)),
      query
        .deleteFrom('history_chats')
        .where('instance', '=', name)
        .where((row) => row.exists(other)),
    ]
  }

  /** Writes the whole record; after a removal that failed the record may be there or not. */
  async put(hold: Hold, row: InstanceRow, along: Along): Promise<void> {
    const { query } = this.#database
    const { name, ...columns } = toNewColumns(row)
    await this.#writeRecord(
      hold,
      query
        .insertInto('instances')
        .values({ name, ...columns })
        .onConflict((taken) => taken.column('name').doUpdateSet(columns)),
      query.deleteFrom('kept_sessions').where('name', '=', name).where('session_id', '=', row.sessionId),
      ...this.#along(along),
    )
  }

  /**
   * Removes the record, its jobs, and its events that the helpdesk does not have yet. A linked session is kept for a while, so that
   * the name can be resumed.
   */
  async remove(hold: Hold, keep: KeptSession | null, audit: AuditRecord): Promise<void> {
    const { query } = this.#database
    const { instance: name } = hold
    await this.#writeRecord(
      hold,
      toStatement(query.deleteFrom('instances').where('name', '=', name), 1),
      query.deleteFrom('inbox').where('instance', '=', name),
      query.deleteFrom('request_keys').where('instance', '=', name),
      query.deleteFrom('people').where('instance', '=', name),
      query.deleteFrom('person_phones').where('instance', '=', name),
      query.deleteFrom('rejected_calls').where('instance', '=', name),
      query.deleteFrom('restrictions').where('instance', '=', name),
      query.deleteFrom('conversations').where('instance', '=', name),
      query.deleteFrom('conversation_chats').where('instance', '=', name),
      query.deleteFrom('labels').where('instance', '=', name),
      query.deleteFrom('labelled_chats').where('instance', '=', name),
      query.deleteFrom('label_agreements').where('instance', '=', name),
      query.deleteFrom('state_changes').where('instance', '=', name),
      query.deleteFrom('last_messages').where('instance', '=', name),
      ...jobRemovals(this.#database, name),
      ...assignmentRemoval(this.#database, name),
      ...settingsChanged(this.#database),
      ...(keep ? [query.insertInto('kept_sessions').values(toKeptSessionColumns(keep))] : []),
      auditInsert(this.#database, audit),
    )
  }

  /** The sessions kept under this name since then, newest first. */
  async keptSessions(name: InstanceName, since = 0): Promise<KeptSession[]> {
    const kept = this.#database.query.selectFrom('kept_sessions').selectAll()
    const newest = kept.where('name', '=', name).where('kept_at', '>=', since).orderBy('kept_at', 'desc')
    return (await this.#database.read(newest, keptSessionSecrets)).map(toKeptSession)
  }

  /** Kept sessions that will not be resumed. The network must be told. */
  async giveUpKeptSessions(hold: Hold, logouts: readonly PendingLogout[]): Promise<void> {
    const sessionIds = logouts.map(({ sessionId }) => sessionId)
    await this.#writeRecord(
      hold,
      this.#database.query.deleteFrom('kept_sessions').where('session_id', 'in', sessionIds),
      ...this.#along({ logouts }),
    )
  }

  /**
   * Forgets sessions kept before `time` or under the name of an account that was linked anew, and everything
   * stored of sessions that nothing refers to any more. A session is named in a record before its first key is stored, so a
   * pairing that begins meanwhile is not taken for an orphan, and each removal looks again.
   */
  async dropOrphans(hold: NodeHold, time: number): Promise<void> {
    const { query } = this.#database
    const linked = query.selectFrom('instances').select('name').where('ready_at', 'is not', null)
    const worthless = query
      .deleteFrom('kept_sessions')
      .where((kept) => kept.or([kept('kept_at', '<', time), kept('name', 'in', linked)]))
    await this.#database.write(this.#fence(hold), worthless)
    const orphans = await this.#database.read<{ id: string }>({ compile: () => orphanSessions.compile(query) })
    for (const { id } of orphans) await dropSessionRows(this.#database, this.#fence(hold), id, isOrphan(id))
  }

  #along({ audits = [], deliveries = [], logouts = [] }: Along) {
    const entries = audits.map((audit) => auditInsert(this.#database, audit))
    return [
      ...entries,
      ...deliveryInserts(this.#database, deliveries),
      ...pendingLogoutInserts(this.#database, logouts),
    ]
  }
}

// Jumps from one session to the next on the index: a linked account has hundreds of keys, and not all need to be read.
const orphanSessions = sql<{ id: string }>`
  WITH RECURSIVE stored(id) AS (
    SELECT min(session_id) FROM session_keys
    UNION ALL
    SELECT (SELECT min(session_id) FROM session_keys WHERE session_id > stored.id) FROM stored WHERE stored.id IS NOT NULL
  )
  SELECT id FROM stored WHERE id IS NOT NULL AND ${isOrphan(sql`stored.id`)}`

/** Holds while nothing refers to the session. */
function isOrphan(id: string | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(
    NOT EXISTS (SELECT 1 FROM kept_sessions WHERE session_id = ${id})
    AND NOT EXISTS (SELECT 1 FROM pending_logouts WHERE session_id = ${id})
    AND ${id} NOT IN (SELECT session_id FROM instances WHERE session_id IS NOT NULL)
    AND ${id} NOT IN (SELECT pairing_session_id FROM instances WHERE pairing_session_id IS NOT NULL)
    AND ${id} NOT IN (SELECT previous_session_id FROM instances WHERE previous_session_id IS NOT NULL))`
}

function compileUpdate({ query }: Database, columns: readonly string[]): Update {
  return compileOnce([...columns, 'name'], ({ name = null, ...set }) =>
    query.updateTable('instances').set(set).where('name', '=', name),
  )
}
