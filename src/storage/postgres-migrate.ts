// Brings a PostgreSQL database to the newest schema; an advisory lock makes a second process wait.

import type { Pool } from 'pg'
import { pendingMigrations, versionTable } from './migrate.ts'
import type { Migration } from './migrate.ts'

// Any constant will do, as long as every build uses the same.
const migrationLock = 7_203_651

export async function migratePostgres(pool: Pool, known: readonly Migration[]): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    await client.query(versionTable)
    const current = await client.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM schema_version',
    )
    for (const { version, name, postgres } of pendingMigrations(current.rows[0]?.version ?? 0, known)) {
      for (const statement of postgres) await client.query(statement)
      await client.query('INSERT INTO schema_version (version, name, applied_at) VALUES ($1, $2, $3)', [
        version,
        name,
        Date.now(),
      ])
    }
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    throw cause
  } finally {
    client.release()
  }
}
