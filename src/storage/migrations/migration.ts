// Decides which migrations a database still needs; the engines run them under their own locks.

import { StartError } from '../../lib/start-error.ts'

export type Migration = {
  version: number
  name: string
  /**
   * Whether processes of the build before may go on after the migration, and may start. Without that, the migration waits until
   * no such process runs, and the build before refuses the database.
   */
  besides: boolean
  sqlite: readonly string[]
} & (
  | { postgres: readonly string[]; postgresIndex?: never }
  // An index is built outside of a transaction, so its migration has no other statement.
  | { postgres: readonly []; postgresIndex: ConcurrentIndex }
)

/** An index that PostgreSQL builds while other processes write. `on` is the table and its columns. */
export type ConcurrentIndex = { name: string; on: string }

/** A row of `schema_version`. Builds before migration 33 stored no `besides`. */
export type AppliedMigration = { version: number; besides?: number | null }

export const versionTable = `CREATE TABLE IF NOT EXISTS schema_version (
  version BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at BIGINT NOT NULL,
  besides INTEGER
)`

/** For a table that an earlier build has created. */
export const versionColumn = 'ALTER TABLE schema_version ADD COLUMN besides INTEGER'

/** The migrations to run, in order. Throws when a newer build has changed the database so that this build must not use it. */
export function pendingMigrations(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly Migration[] {
  const newest = known.at(-1)?.version ?? 0
  const incompatible = applied.filter(({ version, besides }) => version > newest && besides !== 1)
  if (incompatible.length > 0) {
    throw new StartError(
      `the database has schema version ${newestOf(incompatible)} and this build knows ${newest}: ` +
        'start the newer build again, or restore a backup made before the upgrade',
    )
  }
  const current = newestOf(applied)
  return known.filter((migration) => migration.version > current)
}

function newestOf(applied: readonly AppliedMigration[]): number {
  return applied.reduce((newest, { version }) => Math.max(newest, version), 0)
}
