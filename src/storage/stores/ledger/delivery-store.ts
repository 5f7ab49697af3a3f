// Lifecycle deliveries. The result of an attempt is a fact, also after the lease was lost: these writes carry no hold.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { Delivery, DeliveryReport, DeliveryResult, DeliveryStatus } from '../../../core/lifecycle/delivery.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { Database } from '../../database.ts'
import { batchSize, deleteInBatches } from '../delete-in-batches.ts'
import { deliverySecrets } from '../../schema/ledger.ts'
import type { DeliveryTable } from '../../schema/ledger.ts'
import { inScope } from '../row-scope.ts'
import { placeOf } from '../../engine/statement.ts'

const openColumns = [
  'id',
  'event_id',
  'event',
  'instance',
  'url',
  'created_at',
  'expires_at',
  'status',
  'attempts',
  'next_at',
  'last_code',
  'last_error',
  'finished_at',
] as const

/** Named one by one, so that the index of status and time finds them. */
const ended: Record<Exclude<DeliveryStatus, 'pending'>, true> = {
  delivered: true,
  exhausted: true,
  refused: true,
  dropped: true,
}
const endedStatuses = Object.keys(ended) as (keyof typeof ended)[]

type OpenRow = Pick<Selectable<DeliveryTable>, (typeof openColumns)[number]>

export class DeliveryStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async insert(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length > 0) await this.#database.write(...deliveryInserts(this.#database, deliveries))
  }

  /** The deliveries that have not ended, oldest first. */
  async pending(scope: RowScope): Promise<Delivery[]> {
    const rows = await this.#database.read(this.#pending().where(inScope(scope)), deliverySecrets)
    return rows.map(toDelivery)
  }

  /** The same of one instance. A start reads those of all instances with one read. */
  async pendingOf(instance: InstanceName): Promise<Delivery[]> {
    const rows = await this.#database.read(this.#pending().where('instance', '=', instance), deliverySecrets)
    return rows.map(toDelivery)
  }

  /** The same of deleted instances. */
  async pendingOfDeleted(): Promise<Delivery[]> {
    const live = this.#database.query.selectFrom('instances').select('name')
    const rows = await this.#database.read(this.#pending().where('instance', 'not in', live), deliverySecrets)
    return rows.map(toDelivery)
  }

  /** Deliveries of instances that exist, without an expiry, that were given up or dropped after `time`. */
  async exhaustedSince(
    time: number,
    limit: number,
    scope: RowScope,
  ): Promise<{ id: string; instance: InstanceName; finishedAt: number }[]> {
    const live = this.#database.query.selectFrom('instances').select('name')
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('deliveries')
        .select(['id', 'instance', 'finished_at'])
        .where('status', 'in', ['exhausted', 'dropped'])
        .where('instance', 'in', live)
        .where(inScope(scope))
        .where('finished_at', '>', time)
        .where('expires_at', 'is', null)
        .orderBy('finished_at')
        .limit(limit),
    )
    return rows.map(({ id, instance, finished_at }) => ({ id, instance, finishedAt: finished_at ?? 0 }))
  }

  async record(id: string, { status, attempts, nextAt, code, error }: DeliveryResult, now: number): Promise<void> {
    const update = this.#database.query
      .updateTable('deliveries')
      .set({
        status,
        attempts,
        next_at: nextAt,
        last_code: code,
        last_error: error,
        finished_at: status === 'pending' ? null : now,
      })
      .where('id', '=', id)
      .where('status', '=', 'pending')
    await this.#database.write(update)
  }

  /** Newest first. */
  async list(instance: InstanceName, limit: number): Promise<DeliveryReport[]> {
    const rows = await this.#database.read(
      this.#database.query
        .selectFrom('deliveries')
        .select(openColumns)
        .where('instance', '=', instance)
        .orderBy('id', (order) => this.#database.inByteOrder(order).desc())
        .limit(limit),
    )
    return rows.map(toReport)
  }

  /** Makes a delivery that has ended pending again; undefined when there is none with this id that has ended. */
  async reopen(instance: InstanceName, id: string, now: number): Promise<Delivery | undefined> {
    const again = { status: 'pending', attempts: 0, next_at: now, expires_at: null, finished_at: null } as const
    const [changed] = await this.#database.write(
      this.#database.query
        .updateTable('deliveries')
        .set(again)
        .where('instance', '=', instance)
        .where('id', '=', id)
        .where('status', '<>', 'pending'),
    )
    if (changed !== 1) return undefined
    const found = this.#database.query.selectFrom('deliveries').selectAll().where('id', '=', id)
    const [row] = await this.#database.read(found, deliverySecrets)
    return row && toDelivery(row)
  }

  /** Undefined when the instance has no delivery with this id that has not ended. */
  async findPending(instance: InstanceName, id: string): Promise<Delivery | undefined> {
    const pending = this.#pending().where('id', '=', id).where('instance', '=', instance)
    const [row] = await this.#database.read(pending, deliverySecrets)
    return row && toDelivery(row)
  }

  /** Forgets deliveries that ended before `time`. */
  async prune(time: number): Promise<void> {
    const { query } = this.#database
    const old = query
      .selectFrom('deliveries')
      .select('id')
      .where('status', 'in', endedStatuses)
      .where('finished_at', '<', time)
    const removal = query.deleteFrom('deliveries').where('id', 'in', old.limit(batchSize))
    await deleteInBatches(async () => (await this.#database.write(removal))[0] ?? 0)
  }

  #pending() {
    return (
      this.#database.query
        .selectFrom('deliveries')
        .selectAll()
        // In the text of the statement, so that the partial index is used.
        .where('status', '=', sql.lit('pending' as const))
        .orderBy('id', (order) => this.#database.inByteOrder(order))
    )
  }
}

/**
 * Steps of a write: the event is stored together with the change that it announces, or not at all. A delivery that is stored
 * already stays as it is: the write is repeated when its answer was lost.
 */
export function deliveryInserts({ query }: Database, deliveries: readonly Delivery[]) {
  return deliveries.map(({ id, body, ...delivery }) =>
    query
      .insertInto('deliveries')
      .values({
        id,
        event_id: delivery.eventId,
        event: delivery.event,
        instance: delivery.instance,
        url: delivery.url,
        body: { seal: Buffer.from(body), place: placeOf(deliverySecrets.table, [id], 'body') },
        created_at: delivery.createdAt,
        expires_at: delivery.expiresAt,
        status: 'pending',
        attempts: delivery.attempts,
        next_at: delivery.nextAt,
      })
      .onConflict((known) => known.column('id').doNothing()),
  )
}

function toDelivery(row: Selectable<DeliveryTable>): Delivery {
  return {
    id: row.id,
    eventId: row.event_id,
    event: row.event,
    instance: row.instance,
    url: row.url,
    body: Buffer.from(row.body).toString('utf8'),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    attempts: row.attempts,
    nextAt: row.next_at,
  }
}

function toReport(row: OpenRow): DeliveryReport {
  return {
    id: row.id,
    eventId: row.event_id,
    event: row.event,
    instance: row.instance,
    url: row.url,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    status: row.status,
    attempts: row.attempts,
    nextAt: row.next_at,
    lastCode: row.last_code,
    lastError: row.last_error,
    finishedAt: row.finished_at,
  }
}
