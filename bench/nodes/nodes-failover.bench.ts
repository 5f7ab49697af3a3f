// How long the instances of a killed node have no owner, and how long they are offline.

import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { until } from '../flow.ts'
import { ask, BenchPostgres } from '../postgres.ts'
import { MovingStage } from './moving-stage.ts'

const size = Number(process.env['BENCH_NODES'] ?? 10)
const instances = Number(process.env['BENCH_INSTANCES'] ?? 1000)
/** Each kills a node, and none is started in its place. */
const rounds = Math.min(Number(process.env['BENCH_ROUNDS'] ?? 3), size - 1)
const pollMs = 20
const promisedMs = 6000
/**
 * The accounts of a dead node log in side by side on all other nodes, which takes some of their CPU. On fewer cores, the nodes, the
 * network and PostgreSQL wait for each other, and the time until they are online shows the machine.
 */
const coresForLogins = 6

type Times = { owned: number[]; online: number[]; cpuMs: number }

export async function run(): Promise<BenchmarkResult> {
  await using postgres = await BenchPostgres.start()
  await using stage = await MovingStage.open(postgres, size, instances)
  const times: Times = { owned: [], online: [], cpuMs: 0 }
  for (let n = 0; n < rounds; n++) {
    const { owned, online, cpuMs } = await killOne(stage)
    times.owned.push(...owned)
    times.online.push(...online)
    times.cpuMs += cpuMs
  }
  const moved = times.owned.length
  const result: BenchmarkResult = { figures: { moved, cpu_ms: round(times.cpuMs / moved) }, ratios: {}, targets: {} }
  for (const what of ['owned', 'online'] as const) {
    const p99 = percentile(times[what], 0.99)
    result.figures[`${what}_p50_ms`] = round(percentile(times[what], 0.5))
    result.figures[`${what}_p99_ms`] = round(p99)
    result.ratios[`${what}_p99_against_6_s`] = round(p99 / promisedMs)
    if (what === 'owned' || availableParallelism() >= coresForLogins) {
      result.targets[`${what}_p99_against_6_s`] = { atMost: 1 }
    }
  }
  return result
}

async function killOne(stage: MovingStage): Promise<Times> {
  const { set } = stage
  const node = set.nodes.at(-1)
  if (!node) throw new Error('no node is left')
  const held = (await set.owners()).filter((each) => each.node === node).map(({ instance }) => instance)
  await until('no instance is a suspect', () => clearSuspicion(set.databaseUrl))
  const since = Date.now()
  await set.kill(node)
  const before = await set.cpuMs()
  const owned = await timesUntilOwned(stage, new Set(held), since)
  const absences = await stage.absences(held, since)
  return { owned, online: absences.map(({ backAt }) => backAt - since), cpuMs: (await set.cpuMs()) - before }
}

/** An instance whose owners died twice within ten minutes is a suspect. Here it is not its fault. False if a row was locked. */
async function clearSuspicion(url: string): Promise<boolean> {
  const free = 'SELECT instance FROM assignments WHERE crashes > 0 FOR UPDATE SKIP LOCKED'
  await ask(url, `UPDATE assignments SET crashes = 0, crashed_at = NULL WHERE instance IN (${free})`)
  return (await ask(url, 'SELECT 1 FROM assignments WHERE crashes > 0')).length === 0
}

async function timesUntilOwned({ set }: MovingStage, missing: Set<string>, since: number): Promise<number[]> {
  const times: number[] = []
  while (missing.size > 0) {
    for (const { instance } of await set.owners()) if (missing.delete(instance)) times.push(Date.now() - since)
    await sleep(pollMs)
  }
  return times
}
