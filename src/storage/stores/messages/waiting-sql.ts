// The statements about outbox rows that wait for a connection: they get a time limit, lose it again, and expire.

import { sql } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import { waitingLifetimeMs } from '../../../core/outbox.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import { from } from './outbox-guards.ts'
import { lookPlanned, outboxColumns } from './outbox-rows.ts'
import type { OutboxRow } from './outbox-rows.ts'

/** The rows of this instance wait with a time limit. Those that did not wait before are audited. */
export function startSteps({ query }: Database, instance: InstanceName, now: number) {
  const fresh = query
    .selectFrom('outbox')
    .where(unlimitedOf(instance))
    .where('waiting', '=', 0)
    .select((row) => [
      sql<number>`CAST(${row.val(now)} AS BIGINT)`.as('ts'),
      sql.lit('system').as('actor'),
      sql.lit('outbox.enqueue').as('action'),
      row.ref('instance').as('instance'),
      row.ref('owner_tag').as('owner_tag'),
      row.ref('id').as('target'),
      sql.lit('{}').as('metadata'),
    ])
  return [
    query
      .insertInto('audit')
      .columns(['ts', 'actor', 'action', 'instance', 'owner_tag', 'target', 'metadata'])
      .expression(fresh),
    query
      .updateTable('outbox')
      .set((row) => ({
        waiting: 1,
        drained: 1,
        expires_at: row.fn.coalesce('expires_at', sql<number>`CAST(${row.val(now + waitingLifetimeMs)} AS BIGINT)`),
      }))
      .where(unlimitedOf(instance)),
  ]
}

/** Holds for rows that do not wait with a time limit yet. */
function unlimitedOf(instance: InstanceName) {
  return (row: ExpressionBuilder<Schema, 'outbox'>) =>
    row.and([from('startWaiting')(row), row('instance', '=', instance), limitless(row)])
}

/** Holds for live rows that do not wait with a time limit yet, and should while the connection is gone. */
export function limitless(row: ExpressionBuilder<Schema, 'outbox'>) {
  return row.and([
    row('kind', '<>', sql.lit('revoke' as const)),
    row.or([
      row('waiting', '=', sql.lit(0 as const)),
      row('drained', '=', sql.lit(0 as const)),
      row('expires_at', 'is', null),
    ]),
  ])
}

/** The rows of this instance that are not overdue lose their time limit. */
export function stopStep({ query }: Database, instance: InstanceName, now: number) {
  return query
    .updateTable('outbox')
    .set({ expires_at: null })
    .where(from('stopWaiting'))
    .where('instance', '=', instance)
    .where('expires_at', '>', now)
}

/** What is to be done about the time limits of an instance. */
export type TimeNeeds = {
  /** A row would wait without a limit. */
  isLimitless: boolean
  /** The limit of a row is over. */
  isOverdue: boolean
  /** The limit of a row runs. */
  isLimited: boolean
}

/** Of each of these instances that has live rows. */
export async function readTimeNeeds(
  database: Database,
  instances: readonly InstanceName[],
  now: number,
): Promise<Map<InstanceName, TimeNeeds>> {
  const query = database.query
    .selectFrom('outbox')
    .select('instance')
    .select((row) => [
      sql<number>`MAX(CASE WHEN ${limitless(row)} THEN 1 ELSE 0 END)`.as('limitless'),
      sql<number>`MAX(CASE WHEN status = 'pending' AND expires_at <= ${now} THEN 1 ELSE 0 END)`.as('overdue'),
      sql<number>`MAX(CASE WHEN expires_at > ${now} THEN 1 ELSE 0 END)`.as('limited'),
    ])
    .where('status', 'in', ['pending', 'sending'])
    .where('instance', 'in', instances)
    .groupBy('instance')
  const found = (await database.read(query)).map(({ instance, limitless, overdue, limited }) => {
    return [instance, { isLimitless: limitless === 1, isOverdue: overdue === 1, isLimited: limited === 1 }] as const
  })
  return new Map(found)
}

export function dueRows({ query }: Database, instance: InstanceName, now: number) {
  return query
    .selectFrom('outbox')
    .select(outboxColumns)
    .where('status', '=', 'pending')
    .where('instance', '=', instance)
    .where('expires_at', '<=', now)
    .orderBy('id')
}

/** If a frame of the row may have left, the row does not expire. */
export function expiryStep({ query }: Database, row: OutboxRow, reason: string, at: number) {
  return query
    .updateTable('outbox')
    .set({ status: 'expired', waiting: 0, expires_at: null, reason, settled_at: at, ...lookPlanned(row, at) })
    .where('id', '=', row.id)
    .where(from('expire'))
    .where('unconfirmed', '=', 0)
    .where('expires_at', '<=', at)
}
