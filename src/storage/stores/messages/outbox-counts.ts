// Counts the rows of the outbox: how many wait, how many are still to be sent, and how many there were over all history.

import { sql } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import { maxWaiting } from '../../../core/outbox.ts'
import type { OutboxTotals } from '../../../core/outbox.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'
import { inScope } from '../row-scope.ts'

export type Totals = OutboxTotals & { oldestPendingAt: number | null }

/** The rows that count against the limit of waiting rows. */
export function waitingCount({ query }: Database, instance: InstanceName) {
  return query
    .selectFrom('outbox')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .where('instance', '=', instance)
    .where('waiting', '=', 1)
}

/** Touches one row while fewer rows wait than the limit allows. */
export function roomForWaiting(database: Database, instance: InstanceName): Statement {
  const waiting = waitingCount(database, instance)
  const isRoom = database.query.selectNoFrom(sql.lit(1).as('room')).where(({ eb }) => eb(waiting, '<', maxWaiting))
  return toStatement(isRoom, 1)
}

export async function countPending(database: Database, scope: RowScope = 'all'): Promise<Map<InstanceName, number>> {
  const query = database.query
    .selectFrom('outbox')
    .select(['instance', ({ fn }) => fn.countAll<number>().as('count')])
    .where('status', 'in', ['pending', 'sending'])
    .where(inScope(scope))
    .groupBy('instance')
  return new Map((await database.read(query)).map(({ instance, count }) => [instance, count]))
}

export async function findTotals(database: Database, instance: InstanceName): Promise<Totals> {
  const { query } = database
  const totals = query
    .selectFrom('outbox_totals')
    .select(['sent', 'expired', 'failed'])
    .where('instance', '=', instance)
  const pending = query
    .selectFrom('outbox')
    .select(({ fn }) => [fn.countAll<number>().as('pending'), fn.min('created_at').as('oldest')])
    .where('status', 'in', ['pending', 'sending'])
    .where('instance', '=', instance)
  const [[settled], [live]] = await Promise.all([database.read(totals), database.read(pending)])
  return {
    pending: live?.pending ?? 0,
    sent: settled?.sent ?? 0,
    expired: settled?.expired ?? 0,
    failed: settled?.failed ?? 0,
    oldestPendingAt: live?.oldest ?? null,
  }
}
