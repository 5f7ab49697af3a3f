// Which processes of earlier builds a PostgreSQL database names, and how their writes are refused from now on.

import type { Client } from 'pg'
import type { NamedProcess } from '../migrations/older-processes.ts'

const now = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)'

// In a database with nodes the lease belongs to no process, and no earlier build must get it again: `LeaseStore.retire`.
const isOfProcess = "owner <> 'nodes'"

// Each table exists only from its migration on.
const named = [
  {
    table: 'lease',
    sql: `SELECT owner AS name, expires_at AS sign FROM lease WHERE ${isOfProcess} AND expires_at > ${now}`,
  },
  { table: 'nodes', sql: "SELECT name || ' (' || id || ')' AS name, beat AS sign FROM nodes WHERE state <> 'dead'" },
]

// A process that stood still may go on later. Its writes carry an old epoch then. A fenced write under way locks the row of the
// lease against FOR UPDATE, not against the change of its epoch.
const endings = [
  { table: 'lease', sql: 'SELECT epoch FROM lease FOR UPDATE' },
  { table: 'lease', sql: `UPDATE lease SET epoch = epoch + 1, expires_at = 0 WHERE ${isOfProcess}` },
  { table: 'assignments', sql: "UPDATE assignments SET epoch = nextval('assignment_epoch')" },
]

/** A process with an older build or none: one of this build would have run the migration. */
export async function olderProcesses(client: Client): Promise<NamedProcess[]> {
  const results = await runWhereExists<NamedProcess>(client, named)
  return results.flat()
}

export async function endOlderProcesses(client: Client): Promise<void> {
  await runWhereExists(client, endings)
}

async function runWhereExists<Row extends object>(
  client: Client,
  statements: readonly { table: string; sql: string }[],
): Promise<Row[][]> {
  const results: Row[][] = []
  for (const { table, sql } of statements) {
    const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table])
    if (rows[0]?.exists) results.push((await client.query<Row>(sql)).rows)
  }
  return results
}
