// The clock of the PostgreSQL of a stage, which can be stepped: a function of the stage answers in place of the one of the server.

import type { Database } from '../../../../src/storage/database.ts'

/** Connections that are opened from now on ask the function of the stage. */
export async function replaceDatabaseClock(database: Database): Promise<void> {
  await stepDatabaseClock(database, 0)
  const sql = `DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
  END $$`
  await database.write({ sql, parameters: [] })
}

/** The clock is ahead by this from now on, or behind. */
export async function stepDatabaseClock(database: Database, offsetMs: number): Promise<void> {
  const sql = `CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    'SELECT pg_catalog.clock_timestamp() + interval ''${offsetMs} milliseconds'''`
  await database.write({ sql, parameters: [] })
}
