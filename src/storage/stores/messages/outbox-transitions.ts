// The transitions of a stored outbox row, except for those of accepting (outbox-store.ts), of Retry
// (retry-store.ts) and of what the helpdesk shows (shown-store.ts).
// Each is one UPDATE with a guard from the table in core/outbox.ts; it answers whether the row was in a state that allows it.

import { sql } from 'kysely'
import type { InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { WriterHoldOf } from '../../../core/nodes/hold.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { from } from './outbox-guards.ts'
import { fromColumns, hasUnknown, lookPlanned, settledAudit } from './outbox-rows.ts'
import type { OutboxRow } from './outbox-rows.ts'
import { dueRows, expiryStep, readTimeNeeds, startSteps, stopStep } from './waiting-sql.ts'
import type { TimeNeeds } from './waiting-sql.ts'
import type { Statement } from '../../engine/statement.ts'

type Counter = 'sent' | 'failed' | 'expired'

export class OutboxTransitions {
  /** Whether a commit that may wait a moment is shared with others. */
  readonly sharesCommits: boolean
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #patientWriter: FencedWriter | undefined
  readonly #waits = new KeyedLanes()
  readonly #claim: ReturnType<typeof compileClaim>
  readonly #markSent: ReturnType<typeof compileMarkSent>
  readonly #countSent: ReturnType<typeof compileCountSent>

  constructor(database: Database, holdOf: WriterHoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#patientWriter = database.patient && new FencedWriter(database.patient, holdOf)
    this.sharesCommits = this.#patientWriter !== undefined
    this.#claim = compileClaim(database)
    this.#markSent = compileMarkSent(database)
    this.#countSent = compileCountSent(database)
  }

  /** A frame that was leaving when the last process ended may have left. It is repeated under the same id. */
  async recover(instance: InstanceName): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set({ status: 'pending' }).where(from('recover'))
    await this.#writer.write(instance, update.where('instance', '=', instance))
  }

  /** The parts have their ids, and the first part may leave after this commit. */
  claim(instance: InstanceName, id: RowId, now: number, parts: readonly OutboxPart[], address: Jid): Promise<boolean> {
    return this.#writer.guarded(instance, this.#claim({ id, now, parts: JSON.stringify(parts), remote_jid: address }))
  }

  /** No frame left: the row is as it was accepted. */
  unclaim(instance: InstanceName, id: RowId): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({ status: 'pending', attempts: 0, parts: '[]', unconfirmed: 0 })
      .where('id', '=', id)
      .where(from('unclaim'))
    return this.#writer.guarded(instance, update)
  }

  /** Saves the outcome of a part. The next part may leave after this commit. */
  saveParts(
    instance: InstanceName,
    id: RowId,
    parts: readonly OutboxPart[],
    along: readonly Statement[] = [],
  ): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({ parts: JSON.stringify(parts), unconfirmed: hasUnknown(parts) })
      .where('id', '=', id)
      .where(from('saveParts'))
    return this.#writer.guarded(instance, update, ...along)
  }

  /** With `mayWait` the commit waits a moment for others. */
  markSent(
    { id, instance }: Pick<OutboxRow, 'id' | 'instance'>,
    parts: readonly OutboxPart[],
    at: number,
    along: readonly Statement[],
    mayWait = false,
  ): Promise<boolean> {
    const update = this.#markSent({ id, parts: JSON.stringify(parts), settled_at: at })
    const writer = (mayWait && this.#patientWriter) || this.#writer
    return writer.guarded(instance, update, this.#countSent({ instance }), ...along)
  }

  /** The row waits for its next attempt. `counted` is added to the number of its attempts, which a claim has counted. */
  postpone(
    instance: InstanceName,
    id: RowId,
    {
      parts,
      reason,
      nextAttemptAt,
      counted,
    }: {
      parts: readonly OutboxPart[]
      reason: string
      nextAttemptAt: number
      counted: -1 | 0 | 1
    },
  ): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set(({ eb }) => ({
        status: 'pending',
        parts: JSON.stringify(parts),
        unconfirmed: hasUnknown(parts),
        reason,
        next_attempt_at: nextAttemptAt,
        attempts: eb('attempts', '+', counted),
      }))
      .where('id', '=', id)
      .where(from('postpone'))
    return this.#writer.guarded(instance, update)
  }

  fail(row: OutboxRow, reason: string, at: number, lookAt: number): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({
        status: 'failed',
        waiting: 0,
        expires_at: null,
        parts: JSON.stringify(row.parts),
        unconfirmed: hasUnknown(row.parts),
        reason,
        settled_at: at,
        ...lookPlanned(row, lookAt),
      })
      .where('id', '=', row.id)
      .where(from('fail'))
    return this.#writer.guarded(
      row.instance,
      update,
      this.#count(row.instance, 'failed', 1),
      auditInsert(this.#database, settledAudit('outbox.failed', row, reason, at)),
    )
  }

  /** The agent deleted the message, so the helpdesk need not be told. */
  cancel(row: OutboxRow, reason: string, at: number): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({ status: 'failed', waiting: 0, expires_at: null, reason, settled_at: at, payload: null, look_at: null })
      .where('id', '=', row.id)
      .where(from('cancel'))
    return this.#writer.guarded(
      row.instance,
      update,
      this.#count(row.instance, 'failed', 1),
      auditInsert(this.#database, settledAudit('outbox.failed', row, reason, at)),
    )
  }

  /** What is to be done about the time limits of these instances, with one read. */
  timeNeeds(instances: readonly InstanceName[], now: number): Promise<Map<InstanceName, TimeNeeds>> {
    return readTimeNeeds(this.#database, instances, now)
  }

  /** Rows of this instance that have waited too long. */
  async due(instance: InstanceName, now: number): Promise<OutboxRow[]> {
    return (await this.#database.read(dueRows(this.#database, instance, now))).map(fromColumns)
  }

  expire(row: OutboxRow, reason: string, at: number): Promise<boolean> {
    return this.#writer.guarded(
      row.instance,
      expiryStep(this.#database, row, reason, at),
      this.#count(row.instance, 'expired', 1),
      auditInsert(this.#database, settledAudit('outbox.expire', row, reason, at)),
    )
  }

  /** The connection is gone: the rows of this instance wait for the next one, and expire. Revokes wait without a limit. */
  startWaiting(instance: InstanceName, now: number): Promise<void> {
    // One call after the other: on PostgreSQL, calls side by side would audit the same row.
    return this.#waits.run(instance, () => this.#writer.write(instance, ...startSteps(this.#database, instance, now)))
  }

  /** The account is connected again: its rows wait only for their turn, and do not expire. Rows that are overdue stay so. */
  async stopWaiting(instance: InstanceName, now: number): Promise<void> {
    await this.#writer.write(instance, stopStep(this.#database, instance, now))
  }

  /** Takes back an acceptance that came too late to be answered. The callback or the request is open again. */
  withdraw(instance: InstanceName, id: RowId, reason: string, at: number): Promise<boolean> {
    const { query } = this.#database
    const update = query
      .updateTable('outbox')
      .set({ status: 'refused', waiting: 0, expires_at: null, reason, settled_at: at, shown: 'unsure' })
      // A direct message is not at the helpdesk.
      .set({ look_at: sql<number | null>`CASE WHEN kind <> 'direct' THEN CAST(${at} AS BIGINT) END` })
      .set({ parts: '[]', unconfirmed: 0 })
      .where('id', '=', id)
      .where(from('withdraw'))
    return this.#writer.guarded(
      instance,
      update,
      query.deleteFrom('settled_callbacks').where('outbox_id', '=', id),
      query.deleteFrom('request_keys').where('outbox_id', '=', id),
    )
  }

  #count(instance: InstanceName, counter: Counter, by: number) {
    return addToTotals(this.#database, { instance, counter, by })
  }
}

export function addToTotals(
  { query }: Database,
  { instance, counter, by }: { instance: InstanceName; counter: Counter; by: number },
) {
  return query
    .insertInto('outbox_totals')
    .values({ instance, [counter]: by })
    .onConflict((conflict) =>
      conflict.column('instance').doUpdateSet(({ eb }) => ({ [counter]: eb(`outbox_totals.${counter}`, '+', by) })),
    )
}

function compileClaim({ query }: Database) {
  return compileOnce(['id', 'now', 'parts', 'remote_jid'], ({ id, now, parts, remote_jid }) =>
    query
      .updateTable('outbox')
      .set(({ eb }) => ({ attempts: eb('attempts', '+', 1) }))
      .set({ status: 'sending', waiting: 0, unconfirmed: 1, parts, remote_jid })
      .where('id', '=', id)
      .where(from('claim'))
      .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)])),
  )
}

function compileMarkSent({ query }: Database) {
  return compileOnce(['id', 'parts', 'settled_at'], ({ id, parts, settled_at }) =>
    query
      .updateTable('outbox')
      .set({ status: 'sent', parts, payload: null, unconfirmed: 0, settled_at, reason: null })
      .where('id', '=', id)
      .where(from('markSent')),
  )
}

function compileCountSent(database: Database) {
  return compileOnce(['instance'], ({ instance }) => addToTotals(database, { instance, counter: 'sent', by: 1 }))
}
