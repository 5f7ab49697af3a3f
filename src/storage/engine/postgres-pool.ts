// Pools of PostgreSQL connections: their deadlines, transactions on one of them, and the translation of failures.

import pg from 'pg'
import type { Client, Pool, PoolClient, QueryResult } from 'pg'
import type { Log } from '../../lib/log.ts'
import { unexpectedRows } from './postgres-expectation.ts'
import { StorageError } from './statement.ts'
import type { Row, Scalar } from './statement.ts'

export type PoolSize = { connections: number; deadlineMs: number }

const int8 = 20

// A process that stands still between two packets of a transaction keeps its locks, and no other process could take the lease.
// The server ends such a transaction long before the lease of 5 s is over.
const idleInTransactionMs = 1500
const idleInTransaction = '25P03'
/** The server has undone the whole transaction. In the last two cases it waited in a circle, or met a change of another one. */
const undoneStates = new Set([idleInTransaction, '40P01', '40001'])

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
    // Queries of one operation leave without waiting for each other's answer.
    pipeline: true,
  })
  // The error itself is not logged: it refers to the client, which holds the password.
  pool.on('error', (err: Error & { code?: string }) => {
    log.warn({ reason: err.message, code: err.code }, 'an idle database connection was lost')
  })
  return pool
}

export type Query = { sql: string; values: Scalar[]; isPlannedOnce?: boolean }

/** `failedAt` is the query that failed first. If `isUndone` is true, nothing is stored. If it is false, that is unknown. */
export type Attempt =
  { results: QueryResult<Row>[] } | { results?: never; error: StorageError; failedAt?: number; isUndone: boolean }

/**
 * Commits all queries, or undoes all. Everything leaves in one go: the server holds locks only while it works, and a process that
 * stands still keeps none.
 */
export async function attempt(pool: Pool, queries: readonly Query[]): Promise<Attempt> {
  const client = await orStorageError(pool.connect())
  // The pool does not listen to a client in use, and an error without a listener ends the process. A query in flight rejects
  // with the same error. A later query only says that the connection is unusable.
  let lost: unknown
  const keepFirst = (error: unknown) => (lost ??= error)
  client.on('error', keepFirst)
  const answers = await sendTogether(client, queries)
  const end = answers.at(-1)
  client.off('error', keepFirst)
  // A connection in an unknown state is closed, not used again.
  client.release(end?.status !== 'fulfilled')
  // The server tells the end of an idle transaction to the query that waits at that moment, or to the client.
  const idle = [lost, ...answers.flatMap(reasonOf)].find(isIdleTimeout)
  if (idle) return { error: toStorageError(idle), isUndone: true }
  const failedAt = answers.findIndex(({ status }) => status === 'rejected')
  const failed = answers[failedAt]
  const isEnd = failedAt === answers.length - 1
  if (failed?.status === 'rejected') {
    const error = toStorageError(failed.reason)
    // The server answers ROLLBACK to the COMMIT of a transaction in which a query failed. It commits nothing behind its own error.
    const isRefused = !isEnd && failed.reason instanceof pg.DatabaseError && error.failure !== 'unavailable'
    return { error, failedAt: failedAt - 1, isUndone: isRefused || commandOf(end) === 'ROLLBACK' }
  }
  if (commandOf(end) !== 'COMMIT')
    throw new StorageError('unavailable', `the commit was answered with ${commandOf(end)}`)
  // The first and the last are BEGIN and COMMIT.
  return { results: answers.slice(1, -1).flatMap(valueOf) }
}

/** Commits all queries, or undoes all and rejects with the first error. */
export async function transact(pool: Pool, queries: readonly Query[]): Promise<QueryResult<Row>[]> {
  const made = await attempt(pool, queries)
  if (!made.results) throw made.error
  return made.results
}

type Answer = PromiseSettledResult<QueryResult<Row>>

const commandOf = (answer: Answer | undefined) => (answer?.status === 'fulfilled' ? answer.value.command : 'nothing')
const reasonOf = (answer: Answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : [])
const valueOf = (answer: Answer) => (answer.status === 'fulfilled' ? [answer.value] : [])

async function sendTogether(client: PoolClient, queries: readonly Query[]): Promise<Answer[]> {
  const { stream } = (client as unknown as Pick<Client, 'connection'>).connection
  const sent: Sent[] = []
  // The client corks its stream for each query, which makes a system call for each.
  stream.cork()
  try {
    for (const query of [{ sql: 'BEGIN', values: [] }, ...queries]) sent.push(send(client, query))
    // The server would commit the other queries without one that the client could not even send.
    sent.push(send(client, { sql: sent.some((step) => step.isUnsent) ? 'ROLLBACK' : 'COMMIT', values: [] }))
  } finally {
    stream.uncork()
  }
  return Promise.allSettled(sent.map(({ answer }) => answer))
}

type Sent = { answer: Promise<QueryResult<Row>>; isUnsent: boolean }

function send(client: PoolClient, { sql, values }: Query): Sent {
  const { promise: answer, resolve, reject } = Promise.withResolvers<QueryResult<Row>>()
  let isUnsent = false
  client.query<Row>(sql, values, (error: Error | null | undefined, result) => {
    isUnsent = !!error
    if (error) reject(error)
    else resolve(result)
  })
  // A query that cannot be sent calls back at once.
  return { answer, isUnsent }
}

/** With a name, the server keeps the plan on the connection for the next statement of this name. */
export function runSql(pool: Pool, { sql, values }: Query, name?: string): Promise<QueryResult<Row>> {
  return orStorageError(pool.query<Row>({ name, text: sql, values }))
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
  if (state === unexpectedRows) return new StorageError('expectation', message, { cause })
  if (undoneStates.has(state)) return new StorageError('undone', message, { cause })
  if (state.startsWith('23')) return new StorageError('constraint', message, { cause })
  return new StorageError(/^(22|42|54|P0)/.test(state) ? 'failed' : 'unavailable', message, { cause })
}

/** The SQLSTATE that the server answered; undefined when it did not answer. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof StorageError && error.cause instanceof pg.DatabaseError ? error.cause.code : undefined
}

function isIdleTimeout(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && cause.code === idleInTransaction
}
