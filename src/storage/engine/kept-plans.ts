// Runs statements that PostgreSQL plans once on each connection. Planning a short statement takes longer than running it.
//
// The plan is kept under a name. A pooler may hand the next run to a connection that does not know the name, or that knows it
// already. A migration may change the columns of the result. The server then refuses the statement before it does anything. So
// the statement is repeated at once without a name, and no name is used again by this process.

import { createHash } from 'node:crypto'
import type { Pool, QueryResult } from 'pg'
import type { Log } from '../../lib/log.ts'
import { codeOf, runSql } from './postgres-pool.ts'
import type { Query } from './postgres-pool.ts'
import type { Row } from './statement.ts'

// The name is unknown; the name is taken; the result has other columns; another statement has the name, or the pooler refuses it.
const refusals = new Set(['26000', '42P05', '0A000', '08P01'])

export class KeptPlans {
  readonly #pool: Pool
  readonly #log: Log
  #isRefused = false

  constructor(pool: Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  async run(query: Query): Promise<QueryResult<Row>> {
    if (this.#isRefused) return runSql(this.#pool, query)
    try {
      return await runSql(this.#pool, query, nameOf(query.sql))
    } catch (error) {
      const code = codeOf(error)
      if (code === undefined || !refusals.has(code)) throw error
      this.#log.info({ code }, 'the database keeps no plan, so it plans each beat anew')
      this.#isRefused = true
      return runSql(this.#pool, query)
    }
  }
}

/** Another build behind the same pooler has another name for another text. */
function nameOf(sql: string): string {
  return `causeway_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`
}
