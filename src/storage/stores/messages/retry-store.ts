// Messages that an agent may have asked for again: stored at once, then looked up at the helpdesk, then sent or left alone.
// Each step happens once.

import type { RowId } from '../../../core/ids.ts'
import type { OutboxPart, OutboxReport, OutboxTransition } from '../../../core/outbox.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { callbackColumns, isSettled } from './settled-callbacks.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { addToTotals } from './outbox-transitions.ts'
import { from } from './outbox-guards.ts'
import { enqueued, hasUnknown, rowsToReport, sealed, toColumns, toFlag } from './outbox-rows.ts'
import type { NewOutboxRow, OutboxRow } from './outbox-rows.ts'
import { StorageError } from '../../engine/statement.ts'

/** When the agent asked, and until when we ask the helpdesk about it. */
export type Ask = { at: number; until: number }
/** A message that never reached us: the row to send, or why it cannot be sent. */
export type Unheard = { row: NewOutboxRow; callback: CallbackKey | null } | { row: NewOutboxRow; refusal: string }

export class RetryStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
  }

  /** Once per failure, and only after the helpdesk was told of the failure. */
  ask({ id, status }: OutboxRow, { at, until }: Ask): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({ report: 'asked', report_at: at, expires_at: until })
      .where('id', '=', id)
      .where('status', '=', status)
      .where(from('ask'))
    return this.#writer.guarded(update)
  }

  /** Stores a message that never reached us. Its callback, which may still be on its way, is settled. False when it came. */
  async keepAsked(unheard: Unheard, { at, until }: Ask): Promise<boolean> {
    const { query } = this.#database
    const { row } = unheard
    const callback = 'callback' in unheard ? unheard.callback : null
    const sendable = 'callback' in unheard ? sealed(row.id, row.payload) : { payload: null, reason: unheard.refusal }
    const asked = { status: 'refused', settled_at: at, report: 'asked', report_at: at, expires_at: until } as const
    const settled = callback && { ...callbackColumns(callback), outbox_id: row.id, settled_at: at }
    try {
      await this.#writer.write(
        ...(settled ? [query.insertInto('callbacks').values(settled)] : []),
        query.insertInto('outbox').values({ ...toColumns(row), ...asked, ...sendable }),
      )
      return true
    } catch (error) {
      if (error instanceof StorageError && (await isSettled(this.#database, error, callback))) return false
      throw error
    }
  }

  asked(now: number, limit: number): Promise<OutboxRow[]> {
    return rowsToReport(this.#database, 'asked', now, limit)
  }

  /** Sends the message again. False when its payload is deleted. */
  retry(
    row: OutboxRow,
    parts: readonly OutboxPart[],
    { isWaiting, isDrained, expiresAt }: Pick<NewOutboxRow, 'isWaiting' | 'isDrained' | 'expiresAt'>,
    now: number,
  ): Promise<boolean> {
    const { id, instance, status } = row
    const waiting = { waiting: toFlag(isWaiting), drained: toFlag(isDrained), expires_at: expiresAt }
    const fresh = { attempts: 0, next_attempt_at: 0, reason: null, report: 'none', report_at: null } as const
    const again = { status: 'pending', parts: JSON.stringify(parts), unconfirmed: hasUnknown(parts) } as const
    const update = this.#database.query
      .updateTable('outbox')
      .set({ ...waiting, ...fresh, ...again, settled_at: null })
      .where('id', '=', id)
      .where('status', '=', status)
      .where(from('retry'))
      .where('payload', 'is not', null)
    const isCounted = status === 'failed' || status === 'expired'
    const audit = auditInsert(this.#database, enqueued({ ...row, createdAt: now }))
    return this.#writer.guarded(
      update,
      ...(isCounted ? [addToTotals(this.#database, { instance, counter: status, by: -1 })] : []),
      ...(isWaiting ? [audit] : []),
      ...(status === 'refused' ? [this.#settle(row, now)] : []),
    )
  }

  /** The agent did not ask. A message that never reached us is deleted again. */
  async leaveAlone({ id, reason, chatId }: OutboxRow): Promise<void> {
    if (reason !== null && chatId !== '') return this.#move('leaveAlone', id, { report: 'done' })
    const { query } = this.#database
    await this.#writer.guarded(
      query.deleteFrom('outbox').where('id', '=', id).where(from('discard')),
      query.deleteFrom('callbacks').where('outbox_id', '=', id),
    )
  }

  askLater(id: RowId, until: number): Promise<void> {
    return this.#move('askLater', id, { report_at: until })
  }

  /** The message will not be sent: the helpdesk is told, again or for the first time. */
  refuseRetry({ id, reason }: Pick<OutboxRow, 'id' | 'reason'>, otherwise: string, reportAt: number): Promise<void> {
    return this.#move('refuseRetry', id, {
      report: 'due',
      report_at: reportAt,
      settled_at: reportAt,
      reason: reason ?? otherwise,
    })
  }

  /** The callback of a refused message may be open. From now on a repeat of it is a duplicate. */
  #settle({ id, destination, messageId }: OutboxRow, now: number) {
    const callback = { destination, kind: 'message_created', event_id: messageId ?? 0 }
    const insert = this.#database.query.insertInto('callbacks').values({ ...callback, outbox_id: id, settled_at: now })
    return insert.onConflict((conflict) => conflict.doNothing())
  }

  async #move(
    transition: OutboxTransition,
    id: RowId,
    to: { report?: OutboxReport; report_at?: number; settled_at?: number; reason?: string },
  ): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set(to)
    await this.#writer.write(update.where('id', '=', id).where(from(transition)))
  }
}
