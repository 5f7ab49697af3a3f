// A second client on a test's PostgreSQL database: holds locks, ends connections, looks at who waits.

import pg from 'pg'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { waitUntil } from './wait-until.ts'

export class Bystander {
  readonly #locker: pg.Client
  // A transaction sees who waits as it was when it first looked, so the one that looks is not the one that locks.
  readonly #watcher: pg.Client

  private constructor(locker: pg.Client, watcher: pg.Client) {
    this.#locker = locker
    this.#watcher = watcher
  }

  static async connect(location: DatabaseLocation): Promise<Bystander> {
    if (location.engine !== 'postgres') throw new Error('this is not a PostgreSQL database')
    const [locker, watcher] = [new pg.Client(location.url), new pg.Client(location.url)]
    await locker.connect()
    await watcher.connect()
    return new Bystander(locker, watcher)
  }

  async query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#watcher.query<Record<string, unknown>>(sql, values)).rows
  }

  /** No other connection reads or writes the table until unlock(). */
  async lock(table: string): Promise<void> {
    await this.#locker.query(`BEGIN; LOCK TABLE ${table}`)
  }

  /** A long transaction that has read and written the table. Others read and write it, and cannot change its columns. */
  async use(table: string): Promise<void> {
    await this.#locker.query(`BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`)
  }

  async unlock(): Promise<void> {
    await this.#locker.query('ROLLBACK')
  }

  /** Resolves when this many of the service's connections wait for a lock; returns their process ids. */
  async blocked(count: number): Promise<number[]> {
    let pids: number[] = []
    await waitUntil(`${count} connections wait for a lock`, async () => {
      pids = await this.#waiting()
      return pids.length === count
    })
    return pids
  }

  /** Resolves when at least this many of the service's connections wait for a lock. */
  async blockedAtLeast(count: number): Promise<void> {
    await waitUntil(`${count} connections or more wait for a lock`, async () => (await this.#waiting()).length >= count)
  }

  /** How many of the service's connections wait for a lock. */
  async waiting(): Promise<number> {
    return (await this.#waiting()).length
  }

  async #waiting(): Promise<number[]> {
    const rows = await this.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
       AND application_name = 'causeway' AND wait_event_type = 'Lock'`,
    )
    return rows.map(({ pid }) => Number(pid))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#locker.end()
    await this.#watcher.end()
  }
}
