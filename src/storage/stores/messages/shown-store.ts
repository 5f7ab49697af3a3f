// What the helpdesk shows of the messages of the outbox, and when we look at it next.

import { sql } from 'kysely'
import type { DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import { knownOf, outboxStatuses } from '../../../core/outbox.ts'
import type { OutboxStatus } from '../../../core/outbox.ts'
import type { Shown } from '../../../core/shown.ts'
import { lowestTick } from '../../../core/tick.ts'
import type { Tick } from '../../../core/tick.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { WriterHoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import type { Step } from '../fence.ts'
import { inScope } from '../row-scope.ts'
import { idPieces } from '../id-pieces.ts'
import { from } from './outbox-guards.ts'
import type { OutboxRow } from './outbox-rows.ts'
import { partsOf } from './tick-store.ts'

/** A row at which we look. */
export type DueLook = {
  id: RowId
  instance: InstanceName
  destination: DestinationKey
  messageId: number | null
  lookAt: number
}
/** When to look because the agent may have pressed Retry, and until when that counts. */
export type Ask = { at: number; until: number }

const unsurePerRun = 500

export class ShownStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  #lastPlanned = 0

  constructor(database: Database, holdOf: WriterHoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  /** The helpdesk shows these messages as sent. A row that is not unsure any more stays as it is. */
  async noteAnswers(ids: readonly RowId[]): Promise<void> {
    const { query } = this.#database
    const unsure = query.selectFrom('outbox').select(['id', 'instance']).where(from('noteAnswer'))
    const found = await Promise.all(idPieces(ids).map((piece) => this.#database.read(unsure.where('id', 'in', piece))))
    const update = query.updateTable('outbox').set({ shown: 'sent' }).where(from('noteAnswer'))
    await this.#writeEach(found.flat(), (ofOne) =>
      idPieces(idsOf(ofOne)).map((piece) => update.where('id', 'in', piece)),
    )
  }

  /** The callback of the row is about to be answered. Plans a look, unless one is planned. False when the row is not unsure or has ended. */
  confirm(instance: InstanceName, id: RowId, lookAt: number): Promise<boolean> {
    const look = sql<number>`COALESCE(look_at, CAST(${lookAt} AS BIGINT))`
    const update = this.#database.query.updateTable('outbox').set({ shown: 'sent', look_at: look })
    return this.#writer.guarded(instance, update.where('id', '=', id).where(from('confirm')))
  }

  /** The helpdesk shows a failure of a message that will not be sent. Plans a look, unless one is planned. */
  async noteFailure(instance: InstanceName, id: RowId, at: number): Promise<void> {
    const look = sql<number>`COALESCE(look_at, CAST(${at} AS BIGINT))`
    const update = this.#database.query.updateTable('outbox').set({ shown: 'failed', look_at: look })
    await this.#writer.write(instance, update.where('id', '=', id).where(from('noteFailure')))
  }

  /** Plans a look at the rows that were accepted between these times and are still unsure. */
  async planUnsure(between: { after: number; before: number }, at: number, scope: RowScope): Promise<void> {
    const unsure = this.#database.query
      .selectFrom('outbox')
      .select(['id', 'instance'])
      // Without the statuses, which the update checks: SQLite would read all rows by their status.
      .where('shown', '=', sql.lit('unsure' as const))
      .where('look_at', 'is', null)
      .where('created_at', '>', between.after)
      .where('created_at', '<', between.before)
      .where('message_id', 'is not', null)
      .where('conversation_id', 'is not', null)
      .where(inScope(scope, 'outbox.instance'))
      .limit(unsurePerRun)
    const update = this.#database.query
      .updateTable('outbox')
      .set({ look_at: at })
      .where(from('planUnsure'))
      // A look that was planned since the rows were read stays.
      .where('look_at', 'is', null)
    await this.#writeEach(await this.#database.read(unsure), (ofOne) => [update.where('id', 'in', idsOf(ofOne))])
  }

  async due(now: number, limit: number, scope: RowScope): Promise<DueLook[]> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['id', 'instance', 'destination', 'message_id', 'look_at'])
      .where('look_at', '<=', now)
      .where(inScope(scope, 'outbox.instance'))
    const rows = await this.#database.read(query.orderBy('look_at').limit(limit))
    return rows.map(({ message_id, look_at, ...row }) => ({ ...row, messageId: message_id, lookAt: look_at ?? 0 }))
  }

  /** These looks are not needed. A look that was planned since they were read stays. */
  async endLooks(looks: readonly Pick<DueLook, 'id' | 'instance' | 'lookAt'>[]): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set({ look_at: null }).where(from('saveLook'))
    await this.#writeEach(looks, (ofOne) =>
      ofOne.map(({ id, lookAt }) => update.where('id', '=', id).where('look_at', '=', lookAt)),
    )
  }

  async planLook(instance: InstanceName, id: RowId, at: number): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set({ look_at: this.#otherTime(at) })
    await this.#writer.write(instance, update.where('id', '=', id).where(from('planLook')))
  }

  /** False when the message will be sent, or is sent. */
  ask(instance: InstanceName, id: RowId, { at, until }: Ask): Promise<boolean> {
    const update = this.#database.query.updateTable('outbox').set({ look_at: this.#otherTime(at), expires_at: until })
    return this.#writer.guarded(instance, update.where('id', '=', id).where(from('ask')))
  }

  /** What the phones report of the message; null when they have reported nothing of a part of it. */
  async reportedOf(destination: DestinationKey, messageId: number): Promise<Tick | null> {
    const parts = await this.#database.read(partsOf(this.#database, destination, messageId))
    return lowestTick(parts.map(({ reported }) => reported))
  }

  /**
   * Saves what we know after a look. Does nothing when the row has failed since it was read: the failure has planned a look of
   * its own. A look that was planned since the row was read stays.
   */
  async saveLook(row: OutboxRow, shown: Shown, lookAt: number | null): Promise<void> {
    const next = sql<number | null>`CASE WHEN look_at = ${row.lookAt} THEN CAST(${lookAt} AS BIGINT) ELSE look_at END`
    const update = this.#database.query.updateTable('outbox').set({ shown, look_at: next })
    const same = outboxStatuses.filter((status) => isUnsent(status) === isUnsent(row.status))
    await this.#writer.write(
      row.instance,
      update.where('id', '=', row.id).where('status', 'in', same).where(from('saveLook')),
    )
  }

  /**
   * One write for each instance, because each has a holder of its own. All are made, also when one is refused. Rejects with a
   * `NotHeldError` only when nothing else failed.
   */
  async #writeEach<Row extends { instance: InstanceName }>(
    rows: readonly Row[],
    stepsOf: (rows: readonly Row[]) => Step[],
  ): Promise<void> {
    const groups = [...Map.groupBy(rows, ({ instance }) => instance)]
    const written = await Promise.allSettled(
      groups.map(([instance, ofOne]) => this.#writer.write(instance, ...stepsOf(ofOne))),
    )
    const failures = written.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
    const failure = failures.find((error) => !(error instanceof NotHeldError)) ?? failures[0]
    if (failure) throw failure
  }

  /** A time that the row did not have: a look under way finds out by it that another was planned. */
  #otherTime(at: number) {
    const next = this.#lastPlanned + 1
    // The clock may have been set back.
    const time = next - at > 1000 ? at : Math.max(at, next)
    this.#lastPlanned = time
    return sql<number>`CASE WHEN look_at = ${time} THEN CAST(${time + 1} AS BIGINT) ELSE CAST(${time} AS BIGINT) END`
  }
}

function idsOf(rows: readonly { id: RowId }[]): RowId[] {
  return rows.map(({ id }) => id)
}

function isUnsent(status: OutboxStatus): boolean {
  return knownOf(status) === 'unsent'
}
