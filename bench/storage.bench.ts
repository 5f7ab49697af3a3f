// Durable commits per second and event-loop delay, on both engines. SQLite: our grouped writer against one transaction per write
// on the main thread. PostgreSQL: our engine against a pool of the driver that waits for every statement of a transaction.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import pg from 'pg'
import { createLog } from '../src/lib/log.ts'
import type { DatabaseLocation } from '../src/core/database-location.ts'
import { openDatabase } from '../src/storage/database.ts'
import { toStatement } from '../src/storage/engine/statement.ts'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { BenchPostgres } from './postgres.ts'

// A row of about the size of a queue entry or a state change; and what one message changes in a session's keys.
const rowBytes = 200
const sessionBytes = 1800
const cases = [
  { writers: 1, bytes: rowBytes },
  { writers: 16, bytes: rowBytes },
  { writers: 128, bytes: rowBytes },
  { writers: 128, bytes: sessionBytes },
]
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
/** As many as a service has. */
const connections = 10
const roundMs = 700

type Write = (key: string, value: Uint8Array) => Promise<unknown>

export async function run(): Promise<BenchmarkResult> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const grouped = stack.adopt(...(await openOurs({ engine: 'sqlite', path: join(directory, 'grouped.db') })))
  const ungrouped = stack.adopt(...openUngrouped(join(directory, 'ungrouped.db')))
  const server = stack.use(await BenchPostgres.start())
  const location = { engine: 'postgres', url: await server.newDatabase() } as const
  const postgres = stack.adopt(...(await openOurs(location)))
  const pool = stack.adopt(...openPool(location.url))

  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: {} }
  for (const { writers, bytes } of cases) {
    const label = bytes === rowBytes ? `${writers}` : `${writers}_session`
    const measured = await interleave(rounds, {
      grouped: () => measure(grouped.write, writers, bytes),
      ungrouped: () => measure(ungrouped.write, writers, bytes),
      postgres: () => measure(postgres.write, writers, bytes),
      pool: () => measure(pool.write, writers, bytes),
    })
    for (const [way, figures] of Object.entries(measured)) {
      for (const [name, value] of Object.entries(figures)) result.figures[`${way}_${label}_${name}`] = round(value)
    }
    for (const name of ['commits_per_second', 'loop_delay_p99_ms']) {
      const ratio = (one: keyof typeof measured, other: keyof typeof measured) =>
        round((measured[one][name] ?? NaN) / (measured[other][name] ?? NaN))
      result.ratios[`${name}_${label}`] = ratio('grouped', 'ungrouped')
      result.ratios[`postgres_${name}_${label}`] = ratio('postgres', 'pool')
    }
  }
  result.targets = { commits_per_second_128: { atLeast: 5 }, loop_delay_p99_ms_128: { atMost: 0.25 } }
  return result
}

type Opened = { write: Write }

async function openOurs(location: DatabaseLocation): Promise<[Opened, () => Promise<void>]> {
  const log = createLog({ level: 'silent', format: 'json' })
  const database = await openDatabase({ location, encryptionKeys: [], log })
  const { sql } = toStatement(insertInto(database))
  const write: Write = (key, value) => database.write({ sql, parameters: ['s', 'bench', key, value] })
  return [{ write }, () => database[Symbol.asyncDispose]()]
}

function openUngrouped(path: string): [Opened, () => Promise<void>] {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec(
    'CREATE TABLE session_keys (session_id TEXT, kind TEXT, key_id TEXT, value BLOB, PRIMARY KEY (session_id, kind, key_id))',
  )
  const insert = database.prepare('INSERT INTO session_keys VALUES (?, ?, ?, ?)')
  const write: Write = async (key, value) => {
    insert.run('s', 'bench', key, value)
    // Without a turn of the event loop between writes nothing else would ever run.
    await new Promise(setImmediate)
  }
  const close = () => {
    database.close()
    return Promise.resolve()
  }
  return [{ write }, close]
}

function openPool(url: string): [Opened, () => Promise<void>] {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const write: Write = async (key, value) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query('INSERT INTO session_keys VALUES ($1, $2, $3, $4)', ['s', 'bench', key, value])
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }
  return [{ write }, () => pool.end()]
}

function insertInto({ query }: Awaited<ReturnType<typeof openDatabase>>) {
  return query.insertInto('session_keys').values({
    session_id: '',
    kind: '',
    key_id: '',
    value: { seal: new Uint8Array(), place: '' },
  })
}

let written = 0

async function measure(write: Write, writers: number, bytes: number): Promise<Record<string, number>> {
  const value = new Uint8Array(bytes).fill(7)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const started = performance.now()
  const endAt = started + roundMs
  let commits = 0
  delay.enable()
  const work = async () => {
    while (performance.now() < endAt) {
      await write(`k${written++}`, value)
      commits++
    }
  }
  await Promise.all(Array.from({ length: writers }, work))
  delay.disable()
  const seconds = (performance.now() - started) / 1000
  return { commits_per_second: commits / seconds, loop_delay_p99_ms: delay.percentile(99) / 1e6 }
}
