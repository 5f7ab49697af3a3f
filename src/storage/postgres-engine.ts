// PostgreSQL through a small pool: the same operations, one transaction each.

import pg from 'pg'
import type { Pool, PoolClient, QueryResult } from 'pg'
import type { Log } from '../lib/log.ts'
import { SecretBox } from '../lib/secret-box.ts'
import { migrations } from './migrations/all.ts'
import { migratePostgres } from './postgres-migrate.ts'
import { openSecrets, sealSecrets } from './secret-columns.ts'
import { StorageError } from './statement.ts'
import type { Engine, Row, SecretColumns, Statement, StatementResult } from './statement.ts'

const int8 = 20

export class PostgresEngine implements Engine {
  readonly #pool: Pool
  readonly #box: SecretBox

  private constructor(pool: Pool, box: SecretBox) {
    this.#pool = pool
    this.#box = box
  }

  static async open(url: string, encryptionKeys: readonly Uint8Array[], log: Log): Promise<PostgresEngine> {
    const types = new pg.TypeOverrides()
    // Our 64-bit columns hold times and counts, all far below 2^53.
    types.setTypeParser(int8, Number)
    const pool = new pg.Pool({
      connectionString: url,
      types,
      max: 10,
      connectionTimeoutMillis: 5000,
      query_timeout: 30_000,
      keepAlive: true,
      application_name: 'causeway',
    })
    pool.on('error', (err) => {
      log.warn({ err }, 'an idle database connection was lost')
    })
    try {
      await migratePostgres(pool, migrations)
    } catch (cause) {
      await pool.end()
      throw toStorageError(cause)
    }
    return new PostgresEngine(pool, new SecretBox(encryptionKeys))
  }

  async write(statements: readonly Statement[]): Promise<StatementResult[]> {
    try {
      const [first, ...rest] = statements
      // A single statement is a transaction by itself.
      if (first && rest.length === 0 && first.expect === undefined) return [await this.#run(this.#pool, first)]
      return await this.#transact(statements)
    } catch (cause) {
      throw toStorageError(cause)
    }
  }

  async read(statement: Statement, opens?: SecretColumns): Promise<Row[]> {
    try {
      const { rows } = await this.#run(this.#pool, statement)
      return opens ? openSecrets(rows, opens, this.#box) : rows
    } catch (cause) {
      throw toStorageError(cause)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
  }

  async #transact(statements: readonly Statement[]): Promise<StatementResult[]> {
    const client = await this.#pool.connect()
    let broken = true
    try {
      await client.query('BEGIN')
      try {
        const results: StatementResult[] = []
        for (const statement of statements) results.push(await this.#runExpecting(client, statement))
        await client.query('COMMIT')
        broken = false
        return results
      } catch (cause) {
        await client.query('ROLLBACK')
        broken = false
        throw cause
      }
    } finally {
      // A connection in an unknown state is closed, not lent again.
      client.release(broken)
    }
  }

  async #runExpecting(client: PoolClient, statement: Statement): Promise<StatementResult> {
    const result = await this.#run(client, statement)
    if (statement.expect !== undefined && statement.expect !== result.changes) {
      throw new StorageError('expectation', `expected ${statement.expect} rows, touched ${result.changes}`)
    }
    return result
  }

  async #run(connection: Pool | PoolClient, { sql, parameters }: Statement): Promise<StatementResult> {
    const values = sealSecrets(parameters, this.#box)
    const result: QueryResult<Row> = await connection.query(sql, values)
    return { rows: result.rows, changes: result.rowCount ?? 0 }
  }
}

function toStorageError(cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  // SQLSTATE classes: 23 integrity, 22 bad data, 42 bad statement; without one the connection failed.
  const state = cause instanceof pg.DatabaseError ? (cause.code ?? '') : ''
  if (state.startsWith('23')) return new StorageError('constraint', message, { cause })
  return new StorageError(/^(22|42|P0)/.test(state) ? 'failed' : 'unavailable', message, { cause })
}
