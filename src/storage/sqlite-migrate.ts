// Brings a SQLite database to the newest schema; two processes at once wait for each other's lock.

import type { DatabaseSync } from 'node:sqlite'
import { pendingMigrations, versionTable } from './migrate.ts'
import type { Migration } from './migrate.ts'

export function migrateSqlite(database: DatabaseSync, known: readonly Migration[]): void {
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
    database.exec('ROLLBACK')
    throw cause
  }
}
