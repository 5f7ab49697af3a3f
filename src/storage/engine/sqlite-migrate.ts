// Brings a SQLite database to the newest schema; two processes at once wait for each other's lock.

import type { DatabaseSync } from 'node:sqlite'
import { pendingMigrations, versionColumn, versionTable } from '../migrations/migration.ts'
import type { AppliedMigration, Migration } from '../migrations/migration.ts'
import { OlderProcesses } from '../migrations/older-processes.ts'
import type { NamedProcess } from '../migrations/older-processes.ts'

// Another process may be migrating a large database.
const busyTimeoutMs = 60_000
const pauseMs = 1000

/** Time of the thread that migrates: it has nothing else to do. */
type Time = { monotonic: () => number; pause: (ms: number) => void }

const realTime: Time = {
  monotonic: () => performance.now(),
  pause: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
}

export function migrateSqlite(database: DatabaseSync, known: readonly Migration[], time = realTime): void {
  // A stopped process may hold the write lock for any time. A start that changes nothing does not need the lock.
  if (isCurrent(database, known)) return
  const usual = Number(database.prepare('SELECT timeout FROM pragma_busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  try {
    const older = new OlderProcesses()
    while (!migrateInOne(database, known, (named) => older.running(named, time.monotonic()))) time.pause(pauseMs)
  } finally {
    database.exec(`PRAGMA busy_timeout = ${usual}`)
  }
}

function isCurrent(database: DatabaseSync, known: readonly Migration[]): boolean {
  return hasTable(database, 'schema_version') && pendingMigrations(appliedTo(database), known).length === 0
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

function appliedTo(database: DatabaseSync): AppliedMigration[] {
  return database.prepare('SELECT * FROM schema_version').all() as AppliedMigration[]
}

/** False when a process of an earlier build must end first: then nothing has changed. */
function migrateInOne(
  database: DatabaseSync,
  known: readonly Migration[],
  running: (named: NamedProcess[]) => NamedProcess[],
): boolean {
  database.exec('BEGIN IMMEDIATE')
  try {
    prepareVersions(database)
    const pending = pendingMigrations(appliedTo(database), known)
    const mayGoOn = pending.every(letsOthersGoOn) || running(olderProcesses(database)).length === 0
    if (mayGoOn) for (const migration of pending) migrate(database, migration)
    database.exec(mayGoOn ? 'COMMIT' : 'ROLLBACK')
    return mayGoOn
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}

function prepareVersions(database: DatabaseSync): void {
  database.exec(versionTable)
  const columns = database.prepare("SELECT name FROM pragma_table_info('schema_version')").all()
  if (!columns.some(({ name }) => name === 'besides')) database.exec(versionColumn)
}

/** A migration that concerns only PostgreSQL changes nothing here, so an earlier build need not end for it. */
function letsOthersGoOn({ besides, sqlite }: Migration): boolean {
  return besides || sqlite.length === 0
}

function migrate(database: DatabaseSync, migration: Migration): void {
  const { version, name, besides, sqlite } = migration
  // The writes of an earlier build that stood still are refused from now on.
  if (!letsOthersGoOn(migration) && hasTable(database, 'lease'))
    database.exec('UPDATE lease SET epoch = epoch + 1, expires_at = 0')
  for (const statement of sqlite) database.exec(statement)
  database
    .prepare('INSERT INTO schema_version (version, name, applied_at, besides) VALUES (?, ?, ?, ?)')
    .run(version, name, Date.now(), besides ? 1 : 0)
}

/** The process that owns the accounts. One of this build would have run the migration. */
function olderProcesses(database: DatabaseSync): NamedProcess[] {
  if (!hasTable(database, 'lease')) return []
  const sql = "SELECT owner AS name, expires_at AS sign FROM lease WHERE expires_at > unixepoch('subsec') * 1000"
  return database.prepare(sql).all() as NamedProcess[]
}
