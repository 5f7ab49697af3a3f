// Decides which migrations a database still needs; the engines run them under their own locks.

import { StartError } from '../../lib/start-error.ts'

export type Migration = {
  version: number
  name: string
  sqlite: readonly string[]
  postgres: readonly string[]
}

export const versionTable = `CREATE TABLE IF NOT EXISTS schema_version (
  version BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at BIGINT NOT NULL
)`

/** The migrations to run, in order. Throws when the database was written by a newer build. */
export function pendingMigrations(databaseVersion: number, known: readonly Migration[]): readonly Migration[] {
  const newest = known.at(-1)?.version ?? 0
  if (databaseVersion > newest) {
    throw new StartError(
      `the database has schema version ${databaseVersion} and this build knows ${newest}: ` +
        'start the newer build again, or restore a backup made before the upgrade',
    )
  }
  return known.filter((migration) => migration.version > databaseVersion)
}
