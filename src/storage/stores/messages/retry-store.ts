// Messages that an agent asked for again: failed rows become pending again, and messages that never reached us get a row.

import { quietAfterImportMs } from '../../../core/history/import-state.ts'
import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { WriterHoldOf } from '../../../core/nodes/hold.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { callbackColumns, isSettled } from './settled-callbacks.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { addToTotals } from './outbox-transitions.ts'
import { from } from './outbox-guards.ts'
import { enqueued, hasUnknown, sealedForRetry, toColumns, toFlag } from './outbox-rows.ts'
import type { NewOutboxRow, OutboxRow } from './outbox-rows.ts'
import { StorageError, toStatement } from '../../engine/statement.ts'

/**
 * A message that we know only from a change of it: its callback has not come, or was refused. With a callback key the row
 * settles the callback. Without one the callback may still come and be accepted. `reason` says why the message was refused, if
 * it was.
 */
export type ChangedMessage = { row: NewOutboxRow; callback: CallbackKey | null; reason: string | null }

type Conversation = Pick<OutboxRow, 'destination' | 'conversationId'>

export class RetryStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: WriterHoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  /** Keeps a message that we know only from a change of it, for a look. False when its callback has come. */
  async keepChange(
    { row, callback, reason }: ChangedMessage,
    { at, until }: { at: number; until: number | null },
  ): Promise<boolean> {
    const { query } = this.#database
    const refused = { status: 'refused', reason, settled_at: row.createdAt } as const
    // Without a time limit the row was made from a failure that the helpdesk shows.
    const shown = until === null ? 'failed' : 'unsure'
    const asked = { shown, look_at: at, expires_at: until } as const
    const settled = callback && { ...callbackColumns(callback), outbox_id: row.id, settled_at: row.createdAt }
    try {
      await this.#writer.write(
        row.instance,
        ...(settled ? [query.insertInto('settled_callbacks').values(settled)] : []),
        query.insertInto('outbox').values({ ...toColumns(row), ...refused, ...asked, ...sealedForRetry(row) }),
      )
      return true
    } catch (error) {
      if (error instanceof StorageError && (await isSettled(this.#database, error, callback))) return false
      throw error
    }
  }

  /**
   * Sends the message again. False when the row has nothing to send, when another row has accepted the message, or when history
   * is being imported into its conversation.
   */
  retry(
    row: OutboxRow,
    parts: readonly OutboxPart[],
    { isWaiting, isDrained, expiresAt }: Pick<NewOutboxRow, 'isWaiting' | 'isDrained' | 'expiresAt'>,
    now: number,
  ): Promise<boolean> {
    const { id, instance, status } = row
    const waiting = { waiting: toFlag(isWaiting), drained: toFlag(isDrained), expires_at: expiresAt }
    const fresh = { attempts: 0, next_attempt_at: 0, reason: null, shown: 'sent', look_at: null } as const
    const again = { status: 'pending', parts: JSON.stringify(parts), unconfirmed: hasUnknown(parts) } as const
    const update = this.#database.query
      .updateTable('outbox')
      .set({ ...waiting, ...fresh, ...again, settled_at: null })
      .where('id', '=', id)
      .where('status', '=', status)
      .where(from('retry'))
      .where('payload', 'is not', null)
      .where('chat', '<>', '')
      .where((outbox) => outbox.not(outbox.exists(this.#importInto(row, now))))
    const isCounted = status === 'failed' || status === 'expired'
    const audit = auditInsert(this.#database, enqueued({ ...row, createdAt: now }))
    return this.#writer.guarded(
      instance,
      update,
      ...(isCounted ? [addToTotals(this.#database, { instance, counter: status, by: -1 })] : []),
      ...(isWaiting ? [audit] : []),
      ...(status === 'refused' ? [this.#settle(row, now)] : []),
    )
  }

  /** Whether history is being imported into the conversation of the row, or was a moment ago. */
  async isUnderImport(row: Conversation, now: number): Promise<boolean> {
    return (await this.#database.read(this.#importInto(row, now).limit(1))).length > 0
  }

  #importInto({ destination, conversationId }: Conversation, now: number) {
    return this.#database.query
      .selectFrom('conversation_chats')
      .select('conversation_id')
      .where('destination', '=', destination)
      .where('conversation_id', '=', conversationId)
      .where((chat) => chat.or([chat('is_importing', '=', 1), chat('import_ended_at', '>', now - quietAfterImportMs)]))
  }

  /** Deletes the row of a message whose callback has not come. */
  async discard(instance: InstanceName, id: RowId): Promise<void> {
    const { query } = this.#database
    await this.#writer.guarded(
      instance,
      query.deleteFrom('outbox').where('id', '=', id).where('reason', 'is', null).where(from('discard')),
      query.deleteFrom('settled_callbacks').where('outbox_id', '=', id),
    )
  }

  /** The callback of a refused message may be open. Touches no row when another row has settled it. */
  #settle({ id, destination, messageId }: OutboxRow, now: number) {
    const callback = { destination, kind: 'message_created', event_id: messageId ?? 0 }
    const insert = this.#database.query
      .insertInto('settled_callbacks')
      .values({ ...callback, outbox_id: id, settled_at: now })
    const settled = insert.onConflict((conflict) =>
      conflict
        .columns(['destination', 'kind', 'event_id'])
        .doUpdateSet({ settled_at: now })
        .where('settled_callbacks.outbox_id', '=', id),
    )
    return toStatement(settled, 1)
  }
}
