// Brings a SQLite database to the newest schema; two processes at once wait for each other's lock.

import type { DatabaseSync } from 'node:sqlite'
import { pendingMigrations, versionTable } from '../migrations/migration.ts'
import type { Migration } from '../migrations/migration.ts'

// Another process may be migrating a large database.
const busyTimeoutMs = 60_000

export function migrateSqlite(database: DatabaseSync, known: readonly Migration[]): void {
  const usual = Number(database.prepare('SELECT timeout FROM pragma_busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  try {
    migrateInOne(database, known)
  } finally {
    database.exec(`PRAGMA busy_timeout = ${usual}`)
  }
}

function migrateInOne(database: DatabaseSync, known: readonly Migration[]): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    database.exec(versionTable)
    const current = database.prepare('SELECT coalesce(max(version), 0) AS version FROM schema_version').get()
    for (const { version, name, sqlite } of pendingMigrations(Number(current?.['version']), known)) {
      for (const statement of sqlite) database.exec(statement)
      database
        .prepare('INSERT INTO schema_version (version, name, applied_at) VALUES (?, ?, ?)')
        .run(version, name, Date.now())
    }
    database.exec('COMMIT')
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}
