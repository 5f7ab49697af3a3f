// A database as a year of a busy service leaves it: what the calls of the stores take, also while old rows are removed; how long the
// service takes to start on it with many messages that wait; how long a backup takes.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseLocation } from '../src/core/database-location.ts'
import { createLog } from '../src/lib/log.ts'
import { makeBackup } from '../src/storage/backup/make-backup.ts'
import { openDatabase } from '../src/storage/database.ts'
import { nodeHold } from '../test/harness/holds.ts'
import { PostgresServer } from '../test/harness/postgres-server.ts'
import { openStores } from '../test/storage/harness/all-stores.ts'
import type { Stores } from '../test/storage/harness/all-stores.ts'
import { percentile, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { dayMs, daysOfMessages, fill, template } from './large-fill.ts'
import type { Sizes } from './large-names.ts'
import { hotQueries, overviewQueries, smallTableQueries } from './large-queries.ts'
import type { Queries } from './large-queries.ts'
import { measureStart, releaseHolds } from './large-start.ts'

type Figures = Record<string, number>

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const samples = Number(process.env['BENCH_SAMPLES'] ?? 500)
const limits = { query_ms: 5, start_ms: 3000 }
const pruneBatches = 120
const warmUps = 20

const scaled = (rows: number) => Math.max(20, Math.round(rows * scale))
const sizes: Sizes = {
  messages: scaled(10_000_000),
  contacts: scaled(1_000_000),
  conversations: scaled(100_000),
  audit: scaled(1_000_000),
  waiting: scaled(100_000),
  // An account has at most 200 messages that wait.
  instances: scaled(1000),
}

export async function run(): Promise<BenchmarkResult> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const location = await newLocation(stack, join(directory, 'service.db'))
  const figures: Figures = {}
  const { slowest, pruning } = await measureStores(location, figures)
  const { ready_ms, accepted_ms } = await measureStart(location, template)
  Object.assign(figures, { start_ready_ms: ready_ms, start_accepted_ms: accepted_ms })
  if (location.engine === 'sqlite') await measureBackup(location.path, join(directory, 'backup.db'), figures)
  const ratios = {
    slowest_query_p99: slowest / limits.query_ms,
    slowest_query_p99_during_prune: pruning / limits.query_ms,
    start_to_first_webhook: (accepted_ms ?? NaN) / limits.start_ms,
  }
  const targets = Object.fromEntries(Object.keys(ratios).map((name) => [name, { atMost: 1 }]))
  return { figures: rounded({ ...sizes, ...figures }), ratios: rounded(ratios), targets }
}

async function newLocation(stack: AsyncDisposableStack, path: string): Promise<DatabaseLocation> {
  if (process.env['BENCH_ENGINE'] !== 'postgres') return { engine: 'sqlite', path }
  const { url } = stack.use(await PostgresServer.start())
  return { engine: 'postgres', url }
}

async function measureStores(location: DatabaseLocation, figures: Figures) {
  const log = createLog({ level: 'silent', format: 'json' })
  await using database = await openDatabase({ location, encryptionKeys: [], log })
  const stores = await openStores(database)
  const began = performance.now()
  await fill(stores, sizes)
  figures['fill_s'] = (performance.now() - began) / 1000
  await measureAll(smallTableQueries(stores), figures, 'small_table_')
  const hot = hotQueries(stores, sizes)
  const slowest = await measureAll(hot, figures, '')
  await measureAll(overviewQueries(stores, sizes), figures, 'overview_')
  const pruning = await measureDuringPrune(stores, hot, figures)
  await releaseHolds(stores)
  return { slowest, pruning }
}

/** Returns the slowest p99. */
async function measureAll(queries: Queries, figures: Figures, prefix: string): Promise<number> {
  let slowest = 0
  for (const [name, query] of Object.entries(queries)) {
    const times: number[] = []
    for (let n = -warmUps; n < samples; n++) {
      const began = performance.now()
      await query()
      if (n >= 0) times.push(performance.now() - began)
    }
    const p99 = percentile(times, 0.99)
    Object.assign(figures, { [`${prefix}${name}_p50_ms`]: percentile(times, 0.5), [`${prefix}${name}_p99_ms`]: p99 })
    slowest = Math.max(slowest, p99)
  }
  return slowest
}

/** Removes the oldest rows batch by batch, as the service does, while the queries go on. Returns their p99. */
async function measureDuringPrune({ map }: Stores, queries: Queries, figures: Figures): Promise<number> {
  const before = Date.now() - (daysOfMessages / 2) * dayMs
  const [batches, times]: [number[], number[]] = [[], []]
  let isPruning = true
  const ask = async () => {
    while (isPruning) {
      for (const query of Object.values(queries)) {
        const began = performance.now()
        await query()
        times.push(performance.now() - began)
      }
    }
  }
  const asking = ask()
  for (let batch = 0; batch < pruneBatches; batch++) {
    const began = performance.now()
    await map.prune(nodeHold(), before)
    batches.push(performance.now() - began)
  }
  isPruning = false
  await asking
  const p99 = percentile(times, 0.99)
  Object.assign(figures, {
    prune_batch_p50_ms: percentile(batches, 0.5),
    prune_batch_p99_ms: percentile(batches, 0.99),
  })
  Object.assign(figures, { queries_during_prune: times.length, during_prune_p99_ms: p99 })
  return p99
}

async function measureBackup(path: string, target: string, figures: Figures): Promise<void> {
  const began = performance.now()
  const bytes = await makeBackup({ path, target, overwrite: false, now: Date.now() })
  Object.assign(figures, { backup_s: (performance.now() - began) / 1000, backup_mb: bytes / 2 ** 20 })
}

function rounded(values: Figures): Figures {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value)]))
}
