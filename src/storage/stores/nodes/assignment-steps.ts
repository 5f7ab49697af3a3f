// Steps of other writes that concern nodes and assignments. SQLite has neither, so there they are no steps.

import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { NodeId } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'
import { asQuery, newEpoch } from './assignment-sql.ts'

/** With the record of a new instance. Undoes the write when the node is dead, or when the instance has an assignment. */
export function assignmentInsert(
  database: Database,
  instance: InstanceName,
  node: NodeId,
  now: number | RawBuilder<number>,
): readonly Statement[] {
  const insert = sql`INSERT INTO assignments (instance, node, epoch, since)
    SELECT ${instance}, id, ${newEpoch}, CAST(${now} AS BIGINT)
    FROM nodes WHERE id = ${node} AND state <> 'dead' FOR KEY SHARE`
  return onPostgres(database, insert).map((statement) => ({ ...statement, expect: 1 }))
}

/** With the record of a deleted instance. */
export function assignmentRemoval(database: Database, instance: InstanceName): readonly Statement[] {
  return onPostgres(
    database,
    sql`DELETE FROM assignments WHERE instance = ${instance}`,
    sql`DELETE FROM moves WHERE instance = ${instance}`,
  )
}

/** With each change of a tenant or of the settings of an instance: the next beat of every node tells of it. */
export function settingsChanged(database: Database): readonly Statement[] {
  return onPostgres(database, sql`UPDATE cluster SET settings = settings + 1`)
}

/** A restored database has no node and no owner. A process that held instances before the restore is refused from then on. */
export function nodesRemoval(database: Database, now: number): readonly Statement[] {
  return onPostgres(
    database,
    sql`DELETE FROM nodes`,
    sql`UPDATE assignments SET node = NULL, epoch = ${newEpoch}, since = ${now}, crashes = 0, crashed_at = NULL`,
    sql`DELETE FROM moves`,
    sql`DELETE FROM past_moves`,
    sql`DELETE FROM node_versions`,
  )
}

/** A build that knows no assignments has created and deleted instances without them. */
export function assignmentsTakenOver(database: Database): readonly Statement[] {
  return onPostgres(
    database,
    sql`INSERT INTO assignments (instance, epoch, since)
      SELECT name, ${newEpoch}, ${database.now} FROM instances
      WHERE NOT EXISTS (SELECT 1 FROM assignments WHERE instance = instances.name)
      ON CONFLICT DO NOTHING`,
    sql`DELETE FROM assignments WHERE NOT EXISTS (SELECT 1 FROM instances WHERE name = assignments.instance)`,
  )
}

function onPostgres(database: Database, ...steps: readonly RawBuilder<unknown>[]): readonly Statement[] {
  return database.engine === 'postgres' ? steps.map((step) => toStatement(asQuery(database, step))) : []
}
