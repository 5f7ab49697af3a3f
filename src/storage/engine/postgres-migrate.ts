// Brings a PostgreSQL database to the newest schema, while other processes may use it.
//
// Each migration is a transaction of its own. It waits at most 2 s for a lock, because the writes of other processes wait behind
// it, and is repeated then. A process that waits for another one holds no transaction: an index could not be built meanwhile.
// Every setting is local to its transaction: behind a pooler another client gets the connection next.

import pg from 'pg'
import type { Client } from 'pg'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { pendingMigrations, versionColumn, versionTable } from '../migrations/migration.ts'
import type { AppliedMigration, Migration } from '../migrations/migration.ts'
import { OlderProcesses } from '../migrations/older-processes.ts'
import { endOlderProcesses, olderProcesses } from './postgres-older.ts'
import { buildIndex } from './postgres-index.ts'
import { connectionOptions } from './postgres-pool.ts'

// Any constant will do, as long as every build uses the same.
const migrationLock = 7_203_651

// A process that stands still inside the migration must not keep others from starting for ever.
const idleMs = 60_000
const lockMs = 2000
/** The writes that have waited behind a migration get as much time as they have lost. */
const pauseAfterLockMs = lockMs
const pauseMs = 500
/** A lock could not be had in time, or two transactions waited for each other: nothing was done. */
const lockFailures = new Set(['55P03', '40P01'])

type Options = { log: Log; clock?: Clock; signal?: AbortSignal | undefined }
type Run = { client: Client; url: string; known: readonly Migration[]; clock: Clock; older: OlderProcesses }
/** What the next attempt waits for. */
type Hindrance = { waitsFor: string; pauseMs: number }

/** Resolves when the database has every migration of this build. Every attempt may be cut off and made again. */
export async function migratePostgres(
  url: string,
  known: readonly Migration[],
  { log, clock = systemClock, signal }: Options,
): Promise<void> {
  const client = new pg.Client({ ...connectionOptions(url), connectionTimeoutMillis: 5000 })
  // A lost connection also rejects the query in flight; without a listener it would end the process first.
  client.on('error', () => undefined)
  const run = { client, url, known, clock, older: new OlderProcesses() }
  let told: string | undefined
  try {
    await client.connect()
    for (let next = await nextOf(run); next; next = await nextOf(run)) {
      const hindrance = await inTransaction(client, () => migrate(run, next))
      if (!hindrance) continue
      if (told !== hindrance.waitsFor) log.warn({ ...hindrance, migration: next.version }, 'a migration waits')
      told = hindrance.waitsFor
      await sleep(clock, hindrance.pauseMs, signal)
      if (signal?.aborted) throw new Error('stopped while a migration of the database waited')
    }
  } finally {
    // The server undoes what was not committed.
    await client.end()
  }
}

async function nextOf({ client, known }: Run): Promise<Migration | undefined> {
  return pendingMigrations(await appliedTo(client), known)[0]
}

async function appliedTo(client: Client): Promise<AppliedMigration[]> {
  if (!(await hasTable(client, 'schema_version'))) return []
  return (await client.query<AppliedMigration>('SELECT * FROM schema_version')).rows
}

/** Undone when the work is hindered, or fails. */
async function inTransaction(
  client: Client,
  work: () => Promise<Hindrance | undefined>,
): Promise<Hindrance | undefined> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${lockMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`)
  try {
    const hindrance = await work()
    await client.query(hindrance ? 'ROLLBACK' : 'COMMIT')
    return hindrance
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError && lockFailures.has(cause.code ?? ''))) throw cause
    await client.query('ROLLBACK')
    return { waitsFor: 'a lock that another process holds', pauseMs: pauseAfterLockMs }
  }
}

async function migrate(run: Run, migration: Migration): Promise<Hindrance | undefined> {
  const { client } = run
  const { rows } = await client.query<{ isOurs: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isOurs"', [
    migrationLock,
  ])
  if (!rows[0]?.isOurs) return { waitsFor: 'a migration of another process', pauseMs }
  // Another process may have run it before we had the lock.
  if ((await nextOf(run))?.version !== migration.version) return undefined
  // In a commit of its own: nothing else may wait for this table.
  if (await prepareVersions(client)) return undefined
  if (!migration.besides) {
    const running = run.older.running(await olderProcesses(client), run.clock.monotonic())
    if (running.length > 0) return { waitsFor: running.map(({ name }) => name).join(', '), pauseMs }
    await endOlderProcesses(client)
  }
  for (const statement of migration.postgres) await client.query(statement)
  if (migration.postgresIndex) await buildIndex(run, migration.postgresIndex)
  const { version, name, besides } = migration
  await client.query('INSERT INTO schema_version (version, name, applied_at, besides) VALUES ($1, $2, $3, $4)', [
    ...[version, name, Date.now(), besides ? 1 : 0],
  ])
  return undefined
}

/** Whether the table has changed. */
async function prepareVersions(client: Client): Promise<boolean> {
  if (!(await hasTable(client, 'schema_version'))) {
    await client.query(versionTable)
    return true
  }
  const { fields } = await client.query('SELECT * FROM schema_version LIMIT 0')
  if (fields.some(({ name }) => name === 'besides')) return false
  await client.query(versionColumn)
  return true
}

async function hasTable(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [name])
  return rows[0]?.exists === true
}
