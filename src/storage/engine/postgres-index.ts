// Builds an index of PostgreSQL while other processes write to the table.

import pg from 'pg'
import type { Client } from 'pg'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConcurrentIndex } from '../migrations/migration.ts'
import { connectionOptions } from './postgres-pool.ts'

/** Building a large index and waiting for old transactions may take that long. They hold up no write. */
const longestMs = 86_400_000
/** The server ends an idle transaction after a minute. */
const pingMs = 15_000

type Run = { client: Client; url: string; clock: Clock }

/**
 * Runs on a connection of its own, because the statement may not be part of a transaction. The transaction of the caller goes on
 * meanwhile: it holds the lock of migrations. An attempt that was cut off leaves an invalid index, which is built again.
 */
export async function buildIndex({ client, url, clock }: Run, { name, on }: ConcurrentIndex): Promise<void> {
  const timeouts = { statement_timeout: longestMs, lock_timeout: longestMs }
  const builder = new pg.Client({ ...connectionOptions(url), ...timeouts, connectionTimeoutMillis: 5000 })
  builder.on('error', () => undefined)
  const ended = new AbortController()
  const pings = pingUntil(client, clock, ended.signal)
  try {
    await builder.connect()
    const { rows } = await builder.query<{ indisvalid: boolean }>(
      'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [name],
    )
    if (rows[0]?.indisvalid) return
    if (rows[0]) await builder.query(`DROP INDEX CONCURRENTLY ${name}`)
    await builder.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`)
  } finally {
    ended.abort()
    await pings
    await builder.end()
  }
}

/** A lost connection rejects the next query of the caller, too. */
async function pingUntil(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(clock, pingMs, signal)
    if (signal.aborted) return
    await client.query('SELECT 1').catch(() => undefined)
  }
}
