// Finds instances that do not exist any more but still have rows in a large table.

import { sql } from 'kysely'
import type { InstanceName } from '../../core/ids.ts'
import type { Database } from '../database.ts'

/** Jumps from one instance to the next on an index: an instance has up to millions of rows. */
export async function orphanInstances(
  database: Database,
  table: 'message_map' | 'history_chats',
): Promise<InstanceName[]> {
  const rows = sql.table(table)
  const orphans = sql<{ instance: InstanceName }>`
    WITH RECURSIVE stored(instance) AS (
      SELECT min(instance) FROM ${rows}
      UNION ALL
      SELECT (SELECT min(instance) FROM ${rows} WHERE instance > stored.instance)
      FROM stored WHERE stored.instance IS NOT NULL
    )
    SELECT instance FROM stored
    WHERE instance IS NOT NULL AND NOT EXISTS (SELECT 1 FROM instances WHERE name = stored.instance)`
  const found = await database.read<{ instance: InstanceName }>({ compile: () => orphans.compile(database.query) })
  return found.map(({ instance }) => instance)
}
