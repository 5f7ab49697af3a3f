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
    row.and([
      from('startWaiting')(row),
      row('instance', '=', instance),
      row('kind', '<>', 'revoke'),
      row.or([row('waiting', '=', 0), row('drained', '=', 0), row('expires_at', 'is', null)]),
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
