// Brings a SQLite database to the newest schema; two processes at once wait for each other's lock.

import type { DatabaseSync } from 'node:sqlite'
import { pendingMigrations, versionTable } from '../migrations/migration.ts'
import type { Migration } from '../migrations/migration.ts'

// Another process may be migrating a large database.
const busyTimeoutMs = 60_000

export function migrateSqlite(database: DatabaseSync, known: readonly Migration[]): void {
  // A stopped process may hold the write lock for any time. A start that changes nothing does not need the lock.
  if (isCurrent(database, known)) return
  const usual = Number(database.prepare('SELECT timeout FROM pragma_busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  try {
    migrateInOne(database, known)
  } finally {
    database.exec(`PRAGMA busy_timeout = ${usual}`)
  }
}

function isCurrent(database: DatabaseSync, known: readonly Migration[]): boolean {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'").get()
  return table !== undefined && pendingMigrations(versionOf(database), known).length === 0
}

function versionOf(database: DatabaseSync): number {
  const current = database.prepare('SELECT coalesce(max(version), 0) AS version FROM schema_version').get()
  return Number(current?.['version'])
}

function migrateInOne(database: DatabaseSync, known: readonly Migration[]): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    database.exec(versionTable)
    for (const { version, name, sqlite } of pendingMigrations(versionOf(database), known)) {
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
