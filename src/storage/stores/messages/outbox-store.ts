// The outbox: messages accepted from the helpdesk until they are sent, and the callbacks they settle.

import { sql } from 'kysely'
import { maxWaiting } from '../../../core/outbox.ts'
import type { OutboxPart, OutboxPayload, OutboxTotals } from '../../../core/outbox.ts'
import { KeyedLanes } from '../../../lib/keyed-lanes.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { findSettled, isSettled } from './settled-callbacks.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { enqueued, newColumns, outboxColumns, reported, sealed, withParts } from './outbox-rows.ts'
import type { LiveRow, NewOutboxRow, OpenOutboxRow, OutboxRow } from './outbox-rows.ts'
import { outboxSecrets } from '../../schema/messages.ts'
import { StorageError, toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

/** What is about to leave: the ids of its parts, and where to. */
export type FirstClaim = { parts: readonly OutboxPart[]; address: string }

/** `still` is to touch one row; when it does not, nothing is stored. */
type Conditions = { leaving?: FirstClaim | undefined; still?: Statement | undefined }

export type Enqueued = 'accepted' | 'full' | 'duplicate' | 'stale'

export class OutboxStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #waitingRows = new KeyedLanes()
  readonly #insert: ReturnType<typeof compileInsert>
  readonly #settle: ReturnType<typeof compileSettle>
  readonly #reopenReport: ReturnType<typeof compileReopenReport>

  constructor(database: Database, epoch: () => number) {
    this.#database = database
    this.#writer = new FencedWriter(database, epoch)
    this.#insert = compileInsert(database)
    this.#settle = compileSettle(database)
    this.#reopenReport = compileReopenReport(database)
  }

  /**
   * Stores the message and that its callback is settled, both or neither. With `leaving` it is claimed in the same commit:
   * its frame may leave as soon as this resolves.
   */
  async enqueue(row: NewOutboxRow, callback: CallbackKey | null, conditions: Conditions = {}): Promise<Enqueued> {
    const enqueue = () => this.#enqueue(row, callback, conditions)
    // One after the other: PostgreSQL does not count what others are about to commit.
    return row.waiting === 1 ? this.#waitingRows.run(row.instance, enqueue) : enqueue()
  }

  async #enqueue(
    { payload, ...row }: NewOutboxRow,
    callback: CallbackKey | null,
    { leaving, still }: Conditions,
  ): Promise<Enqueued> {
    const { id, instance, created_at, waiting } = row
    try {
      await this.#writer.write(
        ...(callback ? [this.#settle({ ...callback, outbox_id: id, settled_at: created_at })] : []),
        ...(callback && row.message_id ? [this.#reopenReport({ ...callback, report_at: created_at })] : []),
        ...(still ? [{ ...still, expect: 1 }] : []),
        ...(waiting === 1 ? [this.#room(instance), auditInsert(this.#database, enqueued(row))] : []),
        this.#insert({ ...row, ...claimOf(row, leaving), ...sealed(id, payload) }),
      )
      return 'accepted'
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (await isSettled(this.#database, error, callback)) return 'duplicate'
      if (error.failure === 'expectation' && still) return 'stale'
      if (error.failure === 'expectation' && waiting === 1 && (await this.countWaiting(instance)) >= maxWaiting) {
        return 'full'
      }
      throw error
    }
  }

  /** Keeps what was not accepted, so that the agent can ask for it again. With a callback a repeat finds it settled. */
  async keepRefused(
    { payload, ...row }: NewOutboxRow,
    { reason, reportAt }: { reason: string; reportAt: number },
    callback: CallbackKey | null,
  ): Promise<boolean> {
    const { query } = this.#database
    const { id, created_at } = row
    const settled = { status: 'refused' as const, reason, settled_at: created_at, ...reported(row, reportAt) }
    try {
      await this.#writer.write(
        ...(callback
          ? [query.insertInto('callbacks').values({ ...callback, outbox_id: id, settled_at: created_at })]
          : []),
        query.insertInto('outbox').values({ ...row, ...settled, waiting: 0, ...sealed(id, payload) }),
      )
      return true
    } catch (error) {
      if (error instanceof StorageError && (await isSettled(this.#database, error, callback))) return false
      throw error
    }
  }

  async find(id: string): Promise<OutboxRow | undefined> {
    const [row] = await this.#database.read(
      this.#database.query.selectFrom('outbox').select(outboxColumns).where('id', '=', id),
    )
    return row && withParts(row)
  }

  /** With its payload; undefined once that is dropped. */
  async open(id: string): Promise<OpenOutboxRow | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select([...outboxColumns, 'payload'])
      .where('id', '=', id)
    const [row] = await this.#database.read(query, outboxSecrets)
    if (!row?.payload) return undefined
    const { payload, ...rest } = row
    return { ...withParts(rest), payload: JSON.parse(Buffer.from(payload).toString()) as OutboxPayload }
  }

  /** The row that a callback was settled with; undefined also when that was done without one. */
  async settledBy(callback: CallbackKey): Promise<OutboxRow | undefined> {
    const found = await findSettled(this.#database, callback)
    return found && (await this.find(found.outbox_id))
  }

  /** Settles a callback that has not come yet and is not to be followed; false when it has come. */
  async settleAhead(callback: CallbackKey, at: number): Promise<boolean> {
    try {
      await this.#writer.write(this.#settle({ ...callback, outbox_id: '', settled_at: at }))
      return true
    } catch (error) {
      if (!(error instanceof StorageError) || !(await isSettled(this.#database, error, callback))) throw error
      return (await findSettled(this.#database, callback))?.outbox_id === ''
    }
  }

  /** The newest row of a message at the helpdesk. */
  async ofMessage(destination: string, messageId: number): Promise<OutboxRow | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(outboxColumns)
      .where('destination', '=', destination)
      .where('message_id', '=', messageId)
    const [row] = await this.#database.read(query.orderBy('id', 'desc').limit(1))
    return row && withParts(row)
  }

  /** The last message to this chat that was sent or is going to be. */
  async newestOf(instance: string, chat: string): Promise<{ fingerprint: string | null; at: number } | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['fingerprint', 'created_at', 'settled_at'])
      .where('instance', '=', instance)
      .where('chat', '=', chat)
      .where('kind', '=', 'message')
      .where('status', 'in', ['pending', 'sending', 'sent'])
    const [row] = await this.#database.read(query.orderBy('id', 'desc').limit(1))
    return row && { fingerprint: row.fingerprint, at: row.settled_at ?? row.created_at }
  }

  /** What is not settled, oldest first; of one instance or of all. */
  async live(instance?: string): Promise<LiveRow[]> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['id', 'instance', 'chat'])
      .where('status', 'in', ['pending', 'sending'])
      .orderBy('id')
    return this.#database.read(instance === undefined ? query : query.where('instance', '=', instance))
  }

  async countWaiting(instance: string): Promise<number> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('instance', '=', instance)
      .where('waiting', '=', 1)
    return (await this.#database.read(query))[0]?.count ?? 0
  }

  async countPending(): Promise<Map<string, number>> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['instance', ({ fn }) => fn.countAll<number>().as('count')])
      .where('status', 'in', ['pending', 'sending'])
      .groupBy('instance')
    return new Map((await this.#database.read(query)).map(({ instance, count }) => [instance, count]))
  }

  async totals(instance: string): Promise<OutboxTotals & { oldestPendingAt: number | null }> {
    const { query } = this.#database
    const totals = query
      .selectFrom('outbox_totals')
      .select(['sent', 'expired', 'failed'])
      .where('instance', '=', instance)
    const pending = query
      .selectFrom('outbox')
      .select(({ fn }) => [fn.countAll<number>().as('pending'), fn.min('created_at').as('oldest')])
      .where('status', 'in', ['pending', 'sending'])
      .where('instance', '=', instance)
    const [[settled], [live]] = await Promise.all([this.#database.read(totals), this.#database.read(pending)])
    return {
      pending: live?.pending ?? 0,
      sent: settled?.sent ?? 0,
      expired: settled?.expired ?? 0,
      failed: settled?.failed ?? 0,
      oldestPendingAt: live?.oldest ?? null,
    }
  }

  /** Forgets rows settled before the one time and callbacks settled before the other. */
  async prune(rowsBefore: number, callbacksBefore: number): Promise<void> {
    const { query } = this.#database
    await this.#writer.write(
      query.deleteFrom('outbox').where('settled_at', '<', rowsBefore),
      query.deleteFrom('callbacks').where('settled_at', '<', callbacksBefore),
    )
  }

  /** Touches one row as long as fewer wait than may. */
  #room(instance: string): Statement {
    const { query } = this.#database
    const waiting = query
      .selectFrom('outbox')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('instance', '=', instance)
      .where('waiting', '=', 1)
    const isRoom = query.selectNoFrom(sql.lit(1).as('room')).where(({ eb }) => eb(waiting, '<', maxWaiting))
    return toStatement(isRoom, 1)
  }
}

function claimOf({ remote_jid }: Pick<NewOutboxRow, 'remote_jid'>, leaving: FirstClaim | undefined) {
  if (!leaving) return { status: 'pending', attempts: 0, unconfirmed: 0, parts: '[]', remote_jid }
  const parts = JSON.stringify(leaving.parts)
  return { status: 'sending', attempts: 1, unconfirmed: 1, parts, remote_jid: leaving.address }
}

const insertedColumns = [...newColumns, 'status', 'attempts', 'unconfirmed', 'parts', 'payload'] as const

function compileInsert({ query }: Database) {
  return compileOnce(insertedColumns, (value) => query.insertInto('outbox').values({ ...value, settled_at: null }))
}

const callbackColumns = ['instance', 'destination', 'kind', 'event_id', 'outbox_id', 'settled_at'] as const

function compileSettle({ query }: Database) {
  return compileOnce(callbackColumns, (value) => query.insertInto('callbacks').values(value))
}

// In the text of the statement: SQLite plans one anew each time it is run when a partial index depends on a parameter of it.
const [due, done] = [sql.lit('due' as const), sql.lit('done' as const)]

/** The helpdesk shows a message as failed that was refused before and is accepted now: to be put right. */
function compileReopenReport({ query }: Database) {
  return compileOnce(['destination', 'event_id', 'report_at'], ({ destination, event_id, report_at }) =>
    query
      .updateTable('outbox')
      .set({ report: due, report_at })
      .where('destination', '=', destination)
      .where('message_id', '=', event_id)
      .where('status', '=', 'refused')
      .where('report', '=', done),
  )
}
