// A PostgreSQL of the benchmark's own, which waits for the disk as in production, and what it uses.

import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { PostgresServer } from '../test/harness/postgres-server.ts'

/** Linux counts the CPU of a process in hundredths of a second. */
const tickMs = 10

export class BenchPostgres implements AsyncDisposable {
  readonly #server: PostgresServer
  #pid: number | undefined

  private constructor(server: PostgresServer) {
    this.#server = server
  }

  static async start(): Promise<BenchPostgres> {
    return new BenchPostgres(await PostgresServer.start({ isDurable: true }))
  }

  /** The address of a new database. It goes with the server. */
  async newDatabase(): Promise<string> {
    const name = `bench_${randomBytes(8).toString('hex')}`
    await ask(this.#server.url, `CREATE DATABASE ${name}`)
    const url = new URL(this.#server.url)
    url.pathname = `/${name}`
    return url.href
  }

  /** Pages that change after it are written to the log whole, once. */
  async checkpoint(): Promise<void> {
    await ask(this.#server.url, 'CHECKPOINT')
  }

  /** How much it has written to its log so far. */
  async logBytes(): Promise<number> {
    const [row] = await ask<{ bytes: string }>(
      this.#server.url,
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes`,
    )
    return Number(row?.bytes)
  }

  /** The CPU of all its processes so far. Linux only. */
  async cpuMs(): Promise<number> {
    // Asked for once: a connection costs as much as many small statements.
    const first = (this.#pid ??= await this.#findPid())
    const processes = globSync('/proc/[0-9]*/stat').flatMap(readProcess)
    const own = processes.filter(({ pid, parent }) => pid === first || parent === first)
    return own.reduce((sum, { ticks }) => sum + ticks, 0) * tickMs
  }

  async #findPid(): Promise<number> {
    const [row] = await ask<{ data_directory: string }>(this.#server.url, 'SHOW data_directory')
    const [first] = readFileSync(join(row?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')
    return Number(first)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

/** One statement over a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql, [...values])).rows
  } finally {
    await client.end()
  }
}

type Process = { pid: number; parent: number; ticks: number }

/** With the CPU of its children that have ended. A process may end between the list and the read. */
function readProcess(file: string): Process[] {
  try {
    const text = readFileSync(file, 'utf8')
    // The name is in parentheses and may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid: Number.parseInt(text), parent: Number(fields[1]), ticks }]
  } catch {
    return []
  }
}
