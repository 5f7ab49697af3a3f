// Another client of the database that keeps a transaction open after a statement.

import pg from 'pg'
import type { DatabaseLocation } from '../../../src/core/database-location.ts'

export class RowLocker {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async connect(location: DatabaseLocation): Promise<RowLocker> {
    if (location.engine !== 'postgres') throw new Error('this is not a PostgreSQL database')
    const client = new pg.Client(location.url)
    await client.connect()
    return new RowLocker(client)
  }

  /** The locks of the statement stay until commit() or release(). */
  async hold(sql: string, values: readonly unknown[] = []): Promise<void> {
    await this.#client.query('BEGIN')
    await this.#client.query(sql, [...values])
  }

  async commit(): Promise<void> {
    await this.#client.query('COMMIT')
  }

  async release(): Promise<void> {
    await this.#client.query('ROLLBACK')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}
