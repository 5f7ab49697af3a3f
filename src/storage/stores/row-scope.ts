// Limits a read of many instances to the rows that this node works on.

import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { RowScope } from '../../core/nodes/duties.ts'

/** Whether the instance is deleted is asked of the database: another node may hold it. */
export function inScope(scope: RowScope, instance = 'instance'): RawBuilder<boolean> {
  if (scope === 'all') return sql<boolean>`1 = 1`
  const { held, withDeleted } = scope
  const column = sql.ref(instance)
  const isHeld = held.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`${column} IN (${sql.join(held)})`
  return withDeleted ? sql<boolean>`(${isHeld} OR ${isDeleted(instance)})` : isHeld
}

export function isDeleted(instance = 'instance'): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (SELECT 1 FROM instances WHERE name = ${sql.ref(instance)})`
}
