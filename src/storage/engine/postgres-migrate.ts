// Brings a PostgreSQL database to the newest schema; an advisory lock makes a second process wait.

import pg from 'pg'
import type { Client } from 'pg'
import { pendingMigrations, versionTable } from '../migrations/migration.ts'
import type { Migration } from '../migrations/migration.ts'
import { connectionOptions } from './postgres-pool.ts'

// Any constant will do, as long as every build uses the same.
const migrationLock = 7_203_651

// A process that stands still inside the migration must not keep others from starting for ever.
const idleMs = 60_000

/** On a connection of its own: building an index or waiting for another process may take longer than any request. */
export async function migratePostgres(url: string, known: readonly Migration[]): Promise<void> {
  const client = new pg.Client({ ...connectionOptions(url), connectionTimeoutMillis: 5000 })
  // A lost connection also rejects the query in flight; without a listener it would end the process first.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(
      `SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = ${idleMs}`,
    )
    await migrateWith(client, known)
  } finally {
    // The server undoes what was not committed.
    await client.end()
  }
}

async function migrateWith(client: Client, known: readonly Migration[]): Promise<void> {
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
}
