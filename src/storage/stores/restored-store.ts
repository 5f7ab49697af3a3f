// Prepares a database that comes from a backup for its first owner. After the backup the service went on: it may have sent messages
// that wait in the backup, posted events that wait in it, and accepted messages that it does not know.
//
// - Messages to WhatsApp are not sent again. The helpdesk shows them as failed with the reason, and the agent may press Retry.
// - Texts to the callers of rejected calls are not sent: they may have been sent since.
// - Received events are delivered, but the helpdesk is searched for them first.
// - The keys of each session are marked: they may have sealed messages since, and the network room retires them.
// - An import of history that was under way has failed, and its conversations are not under import any more. The kept history
//   stays. The next import looks for it at the helpdesk first.
// - On PostgreSQL there is no node and no owner: a process that held instances before the restore writes nothing any more.
// - A change of a message that was written before the restore, and that the backup does not know, is no Retry.

import type { ExpressionBuilder } from 'kysely'
import { messageKinds } from '../../core/outbox.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NodeHold } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { placeOf, toStatement } from '../engine/statement.ts'
import type { Schema } from '../schema.ts'
import { sessionKeySecrets } from '../schema/accounts.ts'
import { restoredMark } from './accounts/session-key-store.ts'
import { isUnexpected } from './fence.ts'
import { leaseName } from './lease-store.ts'
import { auditInsert } from './ledger/audit-store.ts'
import { from } from './messages/outbox-guards.ts'
import { nodesRemoval } from './nodes/assignment-steps.ts'

const reason = writeReason('restored')
const importError = 'the database comes from a backup that was made during the import: start the import again'
/** An older message could not be sent by Retry after the backup. */
const retryOfferedMs = 24 * 3_600_000

export type Restored = { madeAt: number; unsent: number; searched: number }

export class RestoredStore {
  readonly #database: Database
  readonly #leaseHold: (() => NodeHold) | undefined

  /** Without a hold on PostgreSQL, where a process prepares the database before it becomes a node. */
  constructor(database: Database, leaseHold?: () => NodeHold) {
    this.#database = database
    this.#leaseHold = leaseHold
  }

  /** Called by each process before it serves. Undefined when the database comes from no backup, when it was prepared before, or when the lease is lost. */
  async prepare(now: number): Promise<Restored | undefined> {
    const madeAt = await this.#madeAt()
    if (madeAt === null) return undefined
    try {
      return await this.#prepare(madeAt, now)
    } catch (error) {
      // Another process has prepared it, or has taken the lease.
      if (isUnexpected(error) && (await this.#madeAt()) === null) return undefined
      throw error
    }
  }

  async #prepare(madeAt: number, now: number): Promise<Restored> {
    const { query } = this.#database
    const searches = await this.#searches()
    const marks = await this.#marks()
    const prepared = query.updateTable('lease').set({ backup_at: null }).where(this.#isOpen)
    const [, , unsent = 0, ...touched] = await this.#database.write(
      // First: its row stays locked, so that a second process waits.
      toStatement(prepared, 1),
      this.#countUnsent(),
      this.#failRows(madeAt, now),
      ...searches,
      ...marks,
      ...this.#failImports(now),
      query.updateTable('rejected_calls').set({ text_state: 'dropped' }).where('text_state', '=', 'due'),
      query.updateTable('first_callbacks').set({ heard_at: now }),
      ...nodesRemoval(this.#database, now),
      auditInsert(this.#database, {
        at: now,
        actor: 'system',
        action: 'backend.restored',
        metadata: { made_at: madeAt },
      }),
    )
    const searched = touched.slice(0, searches.length).reduce((sum, rows) => sum + rows, 0)
    return { madeAt, unsent, searched }
  }

  async #marks() {
    const { query } = this.#database
    const sessions = await this.#database.read(
      query.selectFrom('session_keys').select('session_id').where('kind', '=', 'creds').distinct(),
    )
    const { kind, id } = restoredMark
    return sessions.map(({ session_id }) => {
      const place = placeOf(sessionKeySecrets.table, [session_id, kind, id], 'value')
      return query
        .insertInto('session_keys')
        .values({ session_id, kind, key_id: id, value: { seal: Buffer.from('true'), place } })
        .onConflict((known) => known.doNothing())
    })
  }

  async #madeAt(): Promise<number | null> {
    const query = this.#database.query.selectFrom('lease').select('backup_at').where(this.#isOpen)
    return (await this.#database.read(query))[0]?.backup_at ?? null
  }

  /** The database waits to be prepared, and this process may do it: on SQLite its lease is the right to write. */
  readonly #isOpen = (lease: ExpressionBuilder<Schema, 'lease'>) =>
    lease.and([
      lease('name', '=', leaseName),
      lease('backup_at', 'is not', null),
      ...(this.#leaseHold ? [lease('epoch', '=', this.#leaseHold().epoch)] : []),
    ])

  /** A deletion is not among them: it may be repeated. */
  #failRows(madeAt: number, now: number) {
    return this.#database.query
      .updateTable('outbox')
      .set(({ eb, fn }) => ({
        status: 'failed',
        waiting: 0,
        expires_at: null,
        reason,
        settled_at: fn.coalesce('settled_at', eb.val(now)),
        // After another value, `sent` at the helpdesk would look like a Retry.
        shown: 'sent',
        look_at: eb.case().when('message_id', 'is not', null).then(now).else(null).end(),
      }))
      .where(from('restore'))
      .where('kind', 'in', messageKinds)
      .where('payload', 'is not', null)
      .where((row) => row.or([row('settled_at', 'is', null), row('created_at', '>', madeAt - retryOfferedMs)]))
  }

  #failImports(now: number) {
    const { query } = this.#database
    const failed = { status: 'failed' as const, ended_at: now, error: importError }
    return [
      query.updateTable('jobs').set(failed).where('status', 'in', ['pending', 'running']),
      query
        .updateTable('conversation_chats')
        .set({ is_importing: null, import_ended_at: now })
        .where('is_importing', '=', 1),
    ]
  }

  #countUnsent() {
    const { query } = this.#database
    const waiting = query
      .selectFrom('outbox')
      .select(({ fn }) => ['instance', fn.countAll<number>().as('failed')])
      .where('kind', 'in', messageKinds)
      .where('status', 'in', ['pending', 'sending'])
      .groupBy('instance')
    return query
      .insertInto('outbox_totals')
      .columns(['instance', 'failed'])
      .expression(waiting)
      .onConflict((known) =>
        known
          .column('instance')
          .doUpdateSet(({ eb }) => ({ failed: eb('outbox_totals.failed', '+', eb.ref('excluded.failed')) })),
      )
  }

  /** One update for each instance that has received events. An event that was posted since has a higher id at the helpdesk. */
  async #searches() {
    const { query } = this.#database
    const instances = await this.#database.read(query.selectFrom('inbox').select('instance').distinct())
    const newest = await this.#newestIds(instances.map(({ instance }) => instance))
    return instances.map(({ instance }) =>
      query
        .updateTable('inbox')
        .set({ posted_after: newest.get(instance) ?? 0 })
        .where('instance', '=', instance),
    )
  }

  /** The newest message id of each instance. Of several destinations the lowest one: each numbers its messages itself. */
  async #newestIds(instances: readonly InstanceName[]): Promise<Map<InstanceName, number>> {
    const newest = new Map<InstanceName, number>()
    if (instances.length === 0) return newest
    const query = this.#database.query
      .selectFrom('message_map')
      .select(({ fn }) => ['instance', fn.max('message_id').as('newest')])
      .where('instance', 'in', instances)
      .where('message_id', 'is not', null)
      .groupBy(['instance', 'destination'])
    for (const { instance, newest: id } of await this.#database.read(query)) {
      newest.set(instance, Math.min(newest.get(instance) ?? Infinity, id ?? 0))
    }
    return newest
  }
}
