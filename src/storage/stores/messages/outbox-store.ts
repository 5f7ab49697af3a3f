// The outbox: the messages that were accepted, and the callbacks and requests that they settle.

import { sql } from 'kysely'
import { maxWaiting, messageKinds } from '../../../core/outbox.ts'
import type { OutboxPayload } from '../../../core/outbox.ts'
import type { ChatId, DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { NodeHold, WriterHoldOf } from '../../../core/nodes/hold.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import { SharedReads } from '../../../lib/queues/shared-reads.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import {
  callbackColumns,
  compileSettle,
  findSettled,
  isRequest,
  isSettled,
  oldCallbacks,
  requestSteps,
} from './settled-callbacks.ts'
import type { CallbackKey, SettledKey } from './settled-callbacks.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import { isUnexpected } from '../fence.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { NodeWriter } from '../node-writer.ts'
import { isDeleted } from '../row-scope.ts'
import { countPending, findTotals, roomForWaiting, waitingCount } from './outbox-counts.ts'
import type { Totals } from './outbox-counts.ts'
import { from } from './outbox-guards.ts'
import {
  acceptedColumns,
  claimColumns,
  enqueued,
  fromColumns,
  lookPlanned,
  outboxColumns,
  sealed,
  sealedForRetry,
  toColumns,
} from './outbox-rows.ts'
import type { FirstClaim, LiveRow, NewOutboxRow, OpenOutboxRow, OutboxRow, TakenRow } from './outbox-rows.ts'
import { readLiveRows } from './live-rows.ts'
import { outboxSecrets } from '../../schema/messages.ts'
import { StorageError } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

type Enqueued = 'accepted' | 'full' | 'duplicate'

export type EnqueueIf = { conditions: readonly Statement[]; unread?: Statement }

export class OutboxStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #nodeWriter: NodeWriter
  readonly #waitingRows = new KeyedLanes()
  readonly #liveRows: SharedReads<TakenRow[]>
  readonly #insert: ReturnType<typeof compileInsert>
  readonly #settle: ReturnType<typeof compileSettle>
  readonly #lookAgain: ReturnType<typeof compileLookAgain>

  constructor(database: Database, holdOf: WriterHoldOf, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#nodeWriter = new NodeWriter(database, nodeHold)
    this.#liveRows = new SharedReads((instances) => readLiveRows(database, instances))
    this.#insert = compileInsert(database)
    this.#settle = compileSettle(database)
    this.#lookAgain = compileLookAgain(database)
  }

  /**
   * Stores the message and settles its callback or its request in one commit. With a claim the same commit claims the row, and its frame may
   * leave right after it.
   */
  async enqueue(row: NewOutboxRow, key: SettledKey | null, claim?: FirstClaim): Promise<Enqueued> {
    const { stored } = await this.#inTurn(row, () => this.#enqueue(row, key, claim, []))
    return stored
  }

  /**
   * Like `enqueue`, in the same commit as conditions. When one of them does not touch one row, nothing is stored. Also says whether
   * `unread` touches a row.
   */
  async enqueueIf(
    { conditions, unread }: EnqueueIf,
    row: NewOutboxRow,
    key: SettledKey | null,
    claim?: FirstClaim,
  ): Promise<{ stored: Enqueued | 'stale'; hasUnread: boolean }> {
    try {
      const expected = conditions.map((condition) => ({ ...condition, expect: 1 }))
      return await this.#inTurn(row, () => this.#enqueue(row, key, claim, expected, unread))
    } catch (error) {
      if (!isUnexpected(error)) throw error
      return { stored: 'stale', hasUnread: false }
    }
  }

  /** Rows that wait are stored one after the other: PostgreSQL does not count rows of commits that are under way. */
  #inTurn<T>({ isWaiting, instance }: NewOutboxRow, store: () => Promise<T>): Promise<T> {
    return isWaiting ? this.#waitingRows.run(instance, store) : store()
  }

  async #enqueue(
    row: NewOutboxRow,
    key: SettledKey | null,
    claim: FirstClaim | undefined,
    conditions: readonly Statement[],
    unread?: Statement,
  ): Promise<{ stored: Enqueued; hasUnread: boolean }> {
    const { instance, isWaiting } = row
    const insertion = this.#insertion(row, key, claim, conditions)
    try {
      const touched = await this.#writer.count(instance, ...insertion, ...(unread ? [unread] : []))
      return { stored: 'accepted', hasUnread: unread !== undefined && touched.at(-1) === 1 }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (await isSettled(this.#database, error, key)) return { stored: 'duplicate', hasUnread: false }
      const isFull = isWaiting && error.failure === 'expectation' && (await this.countWaiting(instance)) >= maxWaiting
      if (isFull) return { stored: 'full', hasUnread: false }
      throw error
    }
  }

  #insertion(
    row: NewOutboxRow,
    key: SettledKey | null,
    claim: FirstClaim | undefined,
    conditions: readonly Statement[],
  ) {
    const { id, instance, createdAt, isWaiting, messageId } = row
    const callback = key && !isRequest(key) && messageId ? callbackColumns(key) : null
    return [
      ...this.#settleSteps(key, row),
      ...(callback ? [this.#lookAgain({ ...callback, look_at: createdAt })] : []),
      ...conditions,
      ...(isWaiting ? [roomForWaiting(this.#database, instance), auditInsert(this.#database, enqueued(row))] : []),
      this.#insert({ ...toColumns(row), ...claimColumns(row, claim), ...sealed(id, row.payload) }),
    ]
  }

  #settleSteps(key: SettledKey | null, { id, createdAt }: NewOutboxRow) {
    if (key === null) return []
    if (isRequest(key)) return requestSteps(this.#database, key, id, createdAt)
    return [this.#settle({ ...callbackColumns(key), outbox_id: id, settled_at: createdAt })]
  }

  /** Keeps a message that was not accepted, so that the agent can ask for it again. A repeat finds its key settled. */
  async keepRefused(
    row: NewOutboxRow,
    { reason, lookAt }: { reason: string; lookAt: number },
    key: SettledKey | null,
  ): Promise<boolean> {
    const { query } = this.#database
    const { createdAt } = row
    const refused = { status: 'refused', shown: 'unsure', waiting: 0, expires_at: null } as const
    const settled = { ...refused, reason, settled_at: createdAt, ...lookPlanned(row, lookAt) }
    try {
      await this.#writer.write(
        row.instance,
        ...this.#settleSteps(key, row),
        query.insertInto('outbox').values({ ...toColumns(row), ...settled, ...sealedForRetry(row) }),
      )
      return true
    } catch (error) {
      if (error instanceof StorageError && (await isSettled(this.#database, error, key))) return false
      throw error
    }
  }

  async find(id: RowId): Promise<OutboxRow | undefined> {
    const [row] = await this.#database.read(
      this.#database.query.selectFrom('outbox').select(outboxColumns).where('id', '=', id),
    )
    return row && fromColumns(row)
  }

  /** With its payload. Undefined once the payload is deleted. */
  async open(id: RowId): Promise<OpenOutboxRow | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select([...outboxColumns, 'payload'])
      .where('id', '=', id)
    const [row] = await this.#database.read(query, outboxSecrets)
    if (!row?.payload) return undefined
    return { ...fromColumns(row), payload: JSON.parse(Buffer.from(row.payload).toString()) as OutboxPayload }
  }

  /** The row that settled a callback or a request. Undefined also when a callback was settled without a row. */
  async settledBy(key: SettledKey): Promise<OutboxRow | undefined> {
    const found = await findSettled(this.#database, key)
    return found && (await this.find(found.rowId))
  }

  /** Settles a callback that has not arrived yet and must not be followed. False when it has arrived. */
  async settleAhead(instance: InstanceName, callback: CallbackKey, at: number): Promise<boolean> {
    try {
      await this.#writer.write(instance, this.#settle({ ...callbackColumns(callback), outbox_id: '', settled_at: at }))
      return true
    } catch (error) {
      if (!(error instanceof StorageError) || !(await isSettled(this.#database, error, callback))) throw error
      return (await findSettled(this.#database, callback))?.rowId === ''
    }
  }

  /** The newest row of a message at the helpdesk. A row of a callback comes before a row that was made without one. */
  async ofMessage(destination: DestinationKey, messageId: number): Promise<OutboxRow | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(outboxColumns)
      .where('destination', '=', destination)
      .where('message_id', '=', messageId)
      .orderBy(sql`CASE WHEN status = 'refused' AND reason IS NULL THEN 1 ELSE 0 END`)
    const [row] = await this.#database.read(query.orderBy('id', 'desc').limit(1))
    return row && fromColumns(row)
  }

  /** The last message to this chat that was sent or will be sent. */
  async newestOf(
    instance: InstanceName,
    chatId: ChatId,
  ): Promise<{ fingerprint: string | null; at: number } | undefined> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select(['fingerprint', 'created_at', 'settled_at'])
      .where('instance', '=', instance)
      .where('chat', '=', chatId)
      .where('kind', 'in', messageKinds)
      .where('status', 'in', ['pending', 'sending', 'sent'])
    const [row] = await this.#database.read(query.orderBy('id', 'desc').limit(1))
    return row && { fingerprint: row.fingerprint, at: row.settled_at ?? row.created_at }
  }

  /** Rows of an instance that are pending or being sent, oldest first. Instances that are asked for together share a read. */
  async live(instance: InstanceName): Promise<TakenRow[]> {
    return (await this.#liveRows.find(instance)) ?? []
  }

  /** The same of instances that do not exist any more. */
  liveOfDeleted(): Promise<LiveRow[]> {
    return this.#database.read(
      this.#database.query
        .selectFrom('outbox')
        .select(['id', 'kind', 'instance', 'chat as chatId', 'destination'])
        .select(['conversation_id as conversationId', 'message_id as messageId'])
        .where('status', 'in', ['pending', 'sending'])
        .where(isDeleted('outbox.instance'))
        .orderBy('id'),
    )
  }

  async countWaiting(instance: InstanceName): Promise<number> {
    return (await this.#database.read(waitingCount(this.#database, instance)))[0]?.count ?? 0
  }

  countPending(scope: RowScope): Promise<Map<InstanceName, number>> {
    return countPending(this.#database, scope)
  }

  totals(instance: InstanceName): Promise<Totals> {
    return findTotals(this.#database, instance)
  }

  /** Two chats became one. */
  async moveRows(instance: InstanceName, { keep, drop }: { keep: ChatId; drop: ChatId }): Promise<void> {
    const update = this.#database.query.updateTable('outbox').set({ chat: keep })
    await this.#writer.write(instance, update.where('instance', '=', instance).where('chat', '=', drop))
  }

  /** Deletes rows and callbacks that were settled before these times. */
  async prune(rowsBefore: number, callbacksBefore: number): Promise<void> {
    const { query } = this.#database
    const rows = query.selectFrom('outbox').select('id').where('settled_at', '<', rowsBefore).limit(batchSize)
    await this.#nodeWriter.removeAll(query.deleteFrom('outbox').where('id', 'in', rows))
    await this.#nodeWriter.removeAll(oldCallbacks(this.#database, callbacksBefore))
  }
}

const insertedColumns = [...acceptedColumns, 'status', 'attempts', 'unconfirmed', 'parts', 'payload'] as const

function compileInsert({ query }: Database) {
  return compileOnce(insertedColumns, (value) =>
    query.insertInto('outbox').values({ ...value, shown: sql.lit('unsure' as const), settled_at: null }),
  )
}

/** The message was refused before and is accepted now. The helpdesk may still show it as failed. */
function compileLookAgain({ query }: Database) {
  return compileOnce(['destination', 'event_id', 'look_at'], ({ destination, event_id, look_at }) =>
    query
      .updateTable('outbox')
      .set({ look_at })
      .where('destination', '=', destination)
      .where('message_id', '=', event_id)
      .where('reason', 'is not', null)
      .where(from('lookAgain')),
  )
}
