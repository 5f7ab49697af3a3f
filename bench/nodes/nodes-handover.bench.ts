// How long an instance is offline when one node hands it over to another, with a quick and with a slow login.

import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/lib/log.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { AssignmentStore } from '../../src/storage/stores/nodes/assignment-store.ts'
import { percentile, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { BenchPostgres } from '../postgres.ts'
import { MovingStage } from './moving-stage.ts'
import type { Owned } from './node-set.ts'

const instances = Number(process.env['BENCH_INSTANCES'] ?? 80)
/** In each, every instance moves once. */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
/** As many as nodes move at the same time by themselves. */
const atOnce = 8
const restMs = 2000
const logins = [
  { name: 'quick_login', ms: 0, promisedMs: 500 },
  { name: 'login_of_300_ms', ms: 300, promisedMs: 2000 },
]

export async function run(): Promise<BenchmarkResult> {
  await using postgres = await BenchPostgres.start()
  await using stage = await MovingStage.open(postgres, 2, instances)
  const log = createLog({ level: 'silent', format: 'json' })
  const location = { engine: 'postgres', url: stage.set.databaseUrl } as const
  await using database = await openDatabase({ location, encryptionKeys: [], log })
  const assignments = new AssignmentStore(database)
  const gaps = new Map<string, number[]>(logins.map(({ name }) => [name, []]))
  for (let n = 0; n < rounds; n++) {
    for (const { name, ms } of logins) {
      await stage.sim.ask('delayLogins', ms)
      gaps.get(name)?.push(...(await moveAll(stage, assignments)))
    }
  }
  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: {} }
  for (const { name, promisedMs } of logins) {
    const all = gaps.get(name) ?? []
    result.figures[`${name}_p50_ms`] = round(percentile(all, 0.5))
    result.figures[`${name}_p99_ms`] = round(percentile(all, 0.99))
    result.ratios[`${name}_p99_against_${promisedMs}_ms`] = round(percentile(all, 0.99) / promisedMs)
    result.targets[`${name}_p99_against_${promisedMs}_ms`] = { atMost: 1 }
  }
  return result
}

/** Some at a time, half of them each way, so that no node is fuller than the other. */
async function moveAll(stage: MovingStage, assignments: AssignmentStore): Promise<number[]> {
  const owners = await stage.set.owners()
  const [one, other] = [...Map.groupBy(owners, ({ id }) => id).values()]
  if (!one || !other) throw new Error('one node holds all instances')
  const pairs = one.flatMap((each, index) => [each, ...other.slice(index, index + 1)])
  const gaps: number[] = []
  for (let from = 0; from < pairs.length; from += atOnce) {
    gaps.push(...(await move(stage, assignments, pairs.slice(from, from + atOnce), owners)))
    await sleep(restMs)
  }
  return gaps
}

async function move(
  stage: MovingStage,
  assignments: AssignmentStore,
  moved: readonly Owned[],
  owners: readonly Owned[],
): Promise<number[]> {
  const since = Date.now()
  const ids = new Set(owners.map(({ id }) => id))
  const wishes = moved.map(({ instance, id }) => {
    const [to = ''] = [...ids].filter((each) => each !== id)
    return { instance, from: id, to, askedAt: since }
  })
  await assignments.wish(wishes)
  const absences = await stage.absences(
    moved.map(({ instance }) => instance),
    since,
  )
  const left = await assignments.moves()
  if (left.length > 0) throw new Error(`${left.length} instances were not handed over`)
  return absences.map(({ leftAt, backAt }) => backAt - leftAt)
}
