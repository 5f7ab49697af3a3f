// Pools of PostgreSQL connections: their deadlines, transactions on one of them, and the translation of failures.

import pg from 'pg'
import type { ClientBase, Pool, PoolClient, QueryResult } from 'pg'
import type { Log } from '../../lib/log.ts'
import { StorageError } from './statement.ts'
import type { Row, Scalar } from './statement.ts'

export type PoolSize = { connections: number; deadlineMs: number }

const int8 = 20

// A process that stands still inside a transaction keeps its locks, and no other process could take the lease. The server
// ends such a transaction long before the lease of 5 s is over.
const idleInTransactionMs = 1500
const idleInTransaction = '25P03'

export function connectionOptions(url: string) {
  const types = new pg.TypeOverrides()
  // Our 64-bit columns hold times and counts, all far below 2^53.
  types.setTypeParser(int8, Number)
  return { connectionString: url, types, keepAlive: true, application_name: 'causeway' }
}

export function createPool(url: string, { connections, deadlineMs }: PoolSize, log: Log): Pool {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    max: connections,
    connectionTimeoutMillis: Math.min(deadlineMs, 5000),
    // The server gives up before we do: a write that we report as failed is not made later.
    lock_timeout: Math.min(deadlineMs / 2, 5000),
    statement_timeout: (deadlineMs * 3) / 4,
    query_timeout: deadlineMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  })
  // The error itself is not logged: it refers to the client, which holds the password.
  pool.on('error', (err: Error & { code?: string }) => {
    log.warn({ reason: err.message, code: err.code }, 'an idle database connection was lost')
  })
  return pool
}

/** Commits what the work did, or undoes it and rejects with the work's own error. */
export async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await orStorageError(pool.connect())
  // The pool does not listen to a client in use, and an error without a listener ends the process. A query in flight rejects
  // with the same error. A later query only says that the connection is unusable.
  let lost: unknown
  const keepFirst = (error: unknown) => (lost ??= error)
  client.on('error', keepFirst)
  let sound = false
  try {
    await runSql(client, 'BEGIN')
    const result = await work(client)
    await runSql(client, 'COMMIT')
    sound = true
    return result
  } catch (cause) {
    sound = await client.query('ROLLBACK').then(
      () => true,
      () => false,
    )
    throw isIdleTimeout(lost) ? toStorageError(lost) : cause
  } finally {
    client.off('error', keepFirst)
    // A connection in an unknown state is closed, not used again.
    client.release(!sound)
  }
}

export function runSql(connection: Pool | ClientBase, sql: string, values: Scalar[] = []): Promise<QueryResult<Row>> {
  return orStorageError(connection.query<Row>(sql, values))
}

async function orStorageError<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    throw toStorageError(cause)
  }
}

// SQLSTATE classes: 23 integrity, 22 bad data, 42 bad statement, 54 too large, P0 raised by a trigger of ours.
function toStorageError(cause: unknown): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof TypeError || cause instanceof RangeError) return new StorageError('failed', message, { cause })
  const state = cause instanceof pg.DatabaseError ? (cause.code ?? '') : ''
  if (state === idleInTransaction) return new StorageError('undone', message, { cause })
  if (state.startsWith('23')) return new StorageError('constraint', message, { cause })
  return new StorageError(/^(22|42|54|P0)/.test(state) ? 'failed' : 'unavailable', message, { cause })
}

function isIdleTimeout(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && cause.code === idleInTransaction
}
