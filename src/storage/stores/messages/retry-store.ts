// Messages that an agent asked for again: noted at once, then looked at, then sent or left alone. Every step happens once.

import type { OutboxPart, OutboxTransition } from '../../../core/outbox.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { isSettled } from './settled-callbacks.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { addToTotals } from './outbox-transitions.ts'
import { from } from './outbox-guards.ts'
import { enqueued, hasUnknown, rowsToReport, sealed } from './outbox-rows.ts'
import type { NewOutboxRow, OutboxRow } from './outbox-rows.ts'
import { StorageError } from '../../engine/statement.ts'

/** When it was asked for, and until when it is worth an answer. */
export type Ask = { at: number; until: number }
/** What there is to be sent, or why nothing can be. */
export type Unheard = { row: NewOutboxRow; callback: CallbackKey | null } | { row: NewOutboxRow; refusal: string }

export class RetryStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
  }

  /** Only once per failure, and only after the helpdesk was told of it. */
  ask({ id, status }: OutboxRow, { at, until }: Ask): Promise<boolean> {
    const update = this.#database.query
      .updateTable('outbox')
      .set({ report: 'asked', report_at: at, expires_at: until })
      .where('id', '=', id)
      .where('status', '=', status)
      .where(from('ask'))
    return this.#writer.guarded(update)
  }

  /** A message that never came to us. Its callback is settled, for it may be on its way; false when it has come. */
  async keepAsked(unheard: Unheard, { at, until }: Ask): Promise<boolean> {
    const { query } = this.#database
    const { payload, ...row } = unheard.row
    const callback = 'callback' in unheard ? unheard.callback : null
    const sendable = 'callback' in unheard ? sealed(row.id, payload) : { payload: null, reason: unheard.refusal }
    const asked = { status: 'refused', settled_at: at, report: 'asked', report_at: at, expires_at: until } as const
    try {
      await this.#writer.write(
        ...(callback ? [query.insertInto('callbacks').values({ ...callback, outbox_id: row.id, settled_at: at })] : []),
        query.insertInto('outbox').values({ ...row, ...asked, ...sendable }),
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

  /** Sent again; false when there is nothing left of it to send. */
  retry(
    row: OutboxRow,
    parts: readonly OutboxPart[],
    waiting: Pick<NewOutboxRow, 'waiting' | 'drained' | 'expires_at'>,
    now: number,
  ): Promise<boolean> {
    const { id, instance, status } = row
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
    const audit = auditInsert(this.#database, enqueued({ ...row, created_at: now }))
    return this.#writer.guarded(
      update,
      ...(isCounted ? [addToTotals(this.#database, { instance, counter: status, by: -1 })] : []),
      ...(waiting.waiting === 1 ? [audit] : []),
      ...(status === 'refused' ? [this.#settle(row, now)] : []),
    )
  }

  /** Nobody wants it sent after all. What never came to us is as if it had not been asked for. */
  async leaveAlone({ id, reason, chat }: OutboxRow): Promise<void> {
    if (reason !== null && chat !== '') return this.#move('leaveAlone', id, { report: 'done' })
    const { query } = this.#database
    await this.#writer.guarded(
      query.deleteFrom('outbox').where('id', '=', id).where(from('discard')),
      query.deleteFrom('callbacks').where('outbox_id', '=', id),
    )
  }

  /** To be looked at again then. */
  askLater(id: string, until: number): Promise<void> {
    return this.#move('askLater', id, { report_at: until })
  }

  /** It will not be sent: the helpdesk is told, again or for the first time. */
  refuseRetry({ id, reason }: Pick<OutboxRow, 'id' | 'reason'>, otherwise: string, reportAt: number): Promise<void> {
    return this.#move('refuseRetry', id, {
      report: 'due',
      report_at: reportAt,
      settled_at: reportAt,
      reason: reason ?? otherwise,
    })
  }

  /** The callback of what was refused may be open: from now on a repeat of it does nothing. */
  #settle({ id, instance, destination, message_id }: OutboxRow, now: number) {
    const callback = { instance, destination, kind: 'message_created', event_id: message_id ?? 0 }
    const insert = this.#database.query.insertInto('callbacks').values({ ...callback, outbox_id: id, settled_at: now })
    return insert.onConflict((conflict) => conflict.doNothing())
  }

  async #move(
    transition: OutboxTransition,
    id: string,
    to: Partial<Pick<OutboxRow, 'report' | 'report_at' | 'settled_at' | 'reason'>>,
  ): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set(to)
    await this.#writer.write(update.where('id', '=', id).where(from(transition)))
  }
}
