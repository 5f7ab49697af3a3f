// The conditions under which a row may change its state, built from the table in core/outbox.ts.

import { sql } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import { transitionOf } from '../../../core/outbox.ts'
import type { OutboxTransition } from '../../../core/outbox.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'

/** Holds for rows that can make this transition. */
export function from(name: OutboxTransition) {
  const { from: statuses, shown } = transitionOf(name)
  return (row: ExpressionBuilder<Schema, 'outbox'>) => {
    const hasStatus = row('status', 'in', statuses.map(literal))
    return shown?.from ? row.and([hasStatus, row('shown', 'in', shown.from.map(literal))]) : hasStatus
  }
}

/** Touches one row while no row of the chat is pending or being sent. */
export function compileNoneLive({ query }: Database) {
  return compileOnce(['instance', 'chat'], ({ instance, chat }) =>
    query.selectNoFrom(sql.lit(1).as('one')).where((where) =>
      where.not(
        where.exists(
          query
            .selectFrom('outbox')
            .select(sql.lit(1).as('one'))
            .where('instance', '=', instance)
            .where('chat', '=', chat)
            .where('status', 'in', [literal('pending'), literal('sending')]),
        ),
      ),
    ),
  )
}

/** In the text of the statement: SQLite plans a statement anew at each run when a partial index depends on a parameter. */
function literal<Value extends string>(value: Value) {
  return sql.lit(value)
}
