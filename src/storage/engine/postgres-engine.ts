// PostgreSQL through a small pool: the same operations, one round trip each. Writes of instances may share a transaction.

import type { Pool, QueryResult } from 'pg'
import { systemClock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { SecretBox } from '../../lib/secret-box.ts'
import { migrations } from '../migrations/all.ts'
import { migratePostgres } from './postgres-migrate.ts'
import { KeptPlans } from './kept-plans.ts'
import { expecting } from './postgres-expectation.ts'
import { attempt, createPool, runSql, transact } from './postgres-pool.ts'
import type { Attempt, PoolSize, Query } from './postgres-pool.ts'
import { whenReachable } from './postgres-wait.ts'
import { openSecrets, sealSecrets } from './secret-columns.ts'
import { SharedCommits } from './shared-commits.ts'
import { StorageError } from './statement.ts'
import type { Engine, Row, SecretColumns, Statement, StatementResult } from './statement.ts'

const forRequests = (connections = 10): PoolSize => ({ connections, deadlineMs: 30_000 })
// One for the lease, one for health: both are used about every second and must not wait behind requests.
const forVitals: PoolSize = { connections: 2, deadlineMs: 2000 }

const mostAttempts = 3
/** A write with more steps would hold up those that share its commit. */
const mostSharedSteps = 20

// Less than the time after which PostgreSQL looks for writes that wait for each other.
const quickly = 'SET LOCAL lock_timeout = 300; SET LOCAL statement_timeout = 1000'

type Options = {
  url: string
  encryptionKeys: readonly Uint8Array[]
  log: Log
  /** For requests; those for the lease and for health come on top. */
  connections?: number | undefined
  /** Ends the wait for a server that does not answer. */
  signal?: AbortSignal | undefined
}

type Engines = { engine: PostgresEngine; vital: PostgresEngine }

export class PostgresEngine implements Engine {
  readonly #pool: Pool
  readonly #box: SecretBox
  readonly #shared: SharedCommits
  readonly #plans: KeptPlans

  private constructor(pool: Pool, box: SecretBox, log: Log) {
    this.#pool = pool
    this.#box = box
    this.#plans = new KeptPlans(pool, log)
    this.#shared = new SharedCommits({
      together: (queries) => attemptQuickly(pool, queries),
      alone: (queries) => this.#runAgain(queries),
      clock: systemClock,
    })
  }

  /** One engine for requests, and one for the lease and health. */
  static async open({ url, encryptionKeys, log, connections, signal }: Options): Promise<Engines> {
    // A migration that was cut off left nothing behind, or is continued.
    const waiting = { clock: systemClock, log, signal }
    await whenReachable({ url, ...waiting }, () => migratePostgres(url, migrations, waiting))
    const box = new SecretBox(encryptionKeys)
    const over = (size: PoolSize) => new PostgresEngine(createPool(url, size, log), box, log)
    return { engine: over(forRequests(connections)), vital: over(forVitals) }
  }

  async write(statements: readonly Statement[]): Promise<StatementResult[]> {
    const queries = statements.map((statement) => this.#toQuery(statement))
    try {
      const results = await this.#commit(queries, statements[0]?.isFence === true)
      return results.map(({ rows, rowCount }, index) => ({ rows, changes: statements[index]?.expect ?? rowCount ?? 0 }))
    } catch (cause) {
      throw asFailed(cause)
    }
  }

  async read(statement: Statement, opens?: SecretColumns): Promise<Row[]> {
    try {
      const { rows } = await runSql(this.#pool, this.#toQuery(statement))
      return opens ? openSecrets(rows, opens, this.#box) : rows
    } catch (cause) {
      throw asFailed(cause)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shared.settled()
    await this.#pool.end()
  }

  #commit(queries: readonly Query[], isHeld: boolean): Promise<QueryResult<Row>[]> {
    const [fence, ...steps] = queries
    const isShared = isHeld && fence && steps.length > 0 && steps.length <= mostSharedSteps
    return isShared ? this.#shared.write([fence, ...steps]) : this.#runAgain(queries)
  }

  /** The server undoes the transaction of a process that stood still, and one of two that wait for each other: it is repeated. */
  async #runAgain(queries: readonly Query[]): Promise<QueryResult<Row>[]> {
    const [first, ...rest] = queries
    for (let attempts = 1; ; attempts++) {
      try {
        // A single statement is a transaction by itself.
        if (first && rest.length === 0) return [await this.#runAlone(first)]
        return await transact(this.#pool, queries)
      } catch (cause) {
        const isUndone = cause instanceof StorageError && cause.failure === 'undone'
        if (!isUndone || attempts === mostAttempts) throw cause
      }
    }
  }

  #runAlone(query: Query): Promise<QueryResult<Row>> {
    return query.isPlannedOnce === true ? this.#plans.run(query) : runSql(this.#pool, query)
  }

  #toQuery({ sql, parameters, expect, isPlannedOnce }: Statement): Query {
    const values = sealSecrets(parameters, this.#box)
    return { sql: expect === undefined ? sql : expecting(sql, expect), values, isPlannedOnce: isPlannedOnce === true }
  }
}

/** One query must not hold up the writes of other instances that share its commit. It gets its time when it is made alone. */
async function attemptQuickly(pool: Pool, queries: readonly Query[]): Promise<Attempt> {
  const made = await attempt(pool, [{ sql: quickly, values: [] }, ...queries])
  if (made.results) return { results: made.results.slice(1) }
  return made.failedAt === undefined ? made : { ...made, failedAt: made.failedAt - 1 }
}

/** An error that does not come from the database, such as a damaged secret, fails for good. */
function asFailed(cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause
  return new StorageError('failed', cause instanceof Error ? cause.message : String(cause), { cause })
}
