// What nodes cost while nothing happens: a row per node that beats, against a row per instance that is renewed.

import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/lib/log.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { inTurn, medianRatio, medians, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { Child } from '../child.ts'
import { until } from '../flow.ts'
import type { Figures } from '../flow.ts'
import { ask, BenchPostgres } from '../postgres.ts'
import type { IdleDesk } from './idle-nodes.ts'

const size = Number(process.env['BENCH_NODES'] ?? 10)
/** Of each node. */
const instances = Number(process.env['BENCH_INSTANCES'] ?? 1000)
const idleMs = Number(process.env['BENCH_IDLE_MS'] ?? 60_000)
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 2)
/** Until no node has joined for a while, so that nothing is planned any more. */
const calmMs = Number(process.env['BENCH_CALM_MS'] ?? 40_000)

type Stage = { postgres: BenchPostgres; url: string; nodes: Child<IdleDesk> }

export async function run(): Promise<BenchmarkResult> {
  await using postgres = await BenchPostgres.start()
  const url = await postgres.newDatabase()
  await seed(url)
  await using nodes = new Child<IdleDesk>('./nodes/idle-nodes.ts', { DATABASE_URL: url })
  const stage = { postgres, url, nodes }
  const measured = await inTurn(rounds, {
    beats: () => measure(stage, () => beat(stage)),
    renewals: () => measure(stage, () => nodes.ask('renew', size)),
  })
  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: {} }
  for (const way of ['beats', 'renewals'] as const) {
    for (const [figure, value] of Object.entries(medians(measured[way]))) {
      result.figures[`${way}_${figure}`] = round(value)
    }
  }
  const { cpu_of_a_core: cpu = NaN, log_kb_per_s: written = NaN } = medians(measured.beats)
  result.ratios = {
    beats_cpu_of_a_core: round(cpu),
    beats_log_against_10_kb_per_s: round(written / 10),
    cpu_against_renewals: round(medianRatio(measured.beats, measured.renewals, 'cpu_of_a_core')),
    log_against_renewals: round(medianRatio(measured.beats, measured.renewals, 'log_kb_per_s')),
  }
  result.targets = { beats_cpu_of_a_core: { atMost: 0.02 }, beats_log_against_10_kb_per_s: { atMost: 1 } }
  return result
}

async function seed(url: string): Promise<void> {
  const log = createLog({ level: 'silent', format: 'json' })
  const migrated = await openDatabase({ location: { engine: 'postgres', url }, encryptionKeys: [], log })
  await migrated[Symbol.asyncDispose]()
  const all = size * instances
  const names = `SELECT 'instance-' || n AS name, n % ${size} AS node FROM generate_series(1, ${all}) AS n`
  await ask(
    url,
    `INSERT INTO assignments (instance, epoch, since) SELECT name, nextval('assignment_epoch'), 0 FROM (${names}) AS named`,
  )
  await ask(
    url,
    `CREATE TABLE bench_leases AS SELECT name AS instance, node, CAST(0 AS BIGINT) AS expires_at FROM (${names}) AS named`,
  )
  await ask(url, 'ALTER TABLE bench_leases ADD PRIMARY KEY (instance)')
  await ask(url, 'CREATE INDEX bench_leases_by_node ON bench_leases (node)')
}

async function beat({ url, nodes }: Stage): Promise<void> {
  await nodes.ask('beat', size)
  await until('every instance has an owner', async () => {
    const [row] = await ask<{ free: number }>(url, 'SELECT count(*)::int AS free FROM assignments WHERE node IS NULL')
    return row?.free === 0
  })
  // Autovacuum would do it at some moment of the measurement: all rows have just changed, which is no part of being idle.
  await ask(url, 'VACUUM ANALYZE assignments')
}

/** CPU and log are those of PostgreSQL. */
async function measure({ postgres, nodes }: Stage, start: () => Promise<unknown>): Promise<Figures> {
  await start()
  await postgres.checkpoint()
  await sleep(calmMs)
  // The connections that read the log are outside of what is measured.
  const written = await postgres.logBytes()
  const read = async () => [await postgres.cpuMs(), await nodes.ask('cpuMs')] as const
  const [before, started] = [await read(), performance.now()]
  await sleep(idleMs)
  const after = await read()
  const ms = performance.now() - started
  const bytes = (await postgres.logBytes()) - written
  await nodes.ask('stop')
  return {
    cpu_of_a_core: (after[0] - before[0]) / ms,
    nodes_cpu_of_a_core: (after[1] - before[1]) / ms,
    log_kb_per_s: bytes / 1024 / (ms / 1000),
  }
}
