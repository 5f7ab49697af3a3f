// What linked accounts cost: memory, idle CPU, pairing and reconnecting, the service against the bare library.

import { round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { measureGet, measureIdle, measureMemory, measurePairings, measureReconnects } from './instances-measures.ts'
import type { Compared } from './instances-measures.ts'
import { preKeysOfPairing } from './instances-seed.ts'
import { Stage } from './instances-stage.ts'

/** BENCH_INSTANCES=20,50 for a quick try. */
const [some = 200, many = 1000] = (process.env['BENCH_INSTANCES'] ?? '').split(',').filter(Boolean).map(Number)
const idleMs = Number(process.env['BENCH_IDLE_MS'] ?? 60_000)
/** The simulator's own ready credentials: what remains when prekeys hardly count. */
const fewPreKeys = 30
const rounds = 3

export async function run(): Promise<BenchmarkResult> {
  const compared: Compared = {
    ...(await measurePairings(rounds)),
    ...(await withStage(some, fewPreKeys, (stage) => measureMemory(stage, `${some}_few_prekeys`))),
    ...(await withStage(some, preKeysOfPairing, async (stage) => ({
      ...(await measureMemory(stage, `${some}`)),
      ...(await measureReconnects(stage, rounds, `${some}`)),
    }))),
  }
  const figures: Record<string, number> = {}
  const large = await withStage(many, preKeysOfPairing, async (stage) => {
    const memory = await measureMemory(stage, `${many}`)
    const idle = await measureIdle(stage, idleMs)
    figures[`ours_list_ms_${many}`] = round(await measureGet(stage, '/api/instances'))
    // Ours alone and once: the bare library would need another minute or two, and is compared above.
    const { cpuMs, wallMs } = await stage.reconnect('ours')
    figures[`ours_reconnect_cpu_ms_per_instance_${many}`] = round(cpuMs / many)
    figures[`ours_reconnect_all_wall_ms_${many}`] = round(wallMs)
    return { ...memory, ...idle }
  })
  const ratios: Record<string, number> = {}
  for (const [name, { ours, bare }] of Object.entries({ ...compared, ...large })) {
    figures[`ours_${name}`] = round(ours)
    figures[`bare_${name}`] = round(bare)
    ratios[name] = round(ours / bare)
  }
  return { figures, ...named(ratios) }
}

/** The two ratios that have targets under their own names. */
function named(all: Record<string, number>): Pick<BenchmarkResult, 'ratios' | 'targets'> {
  const ratios = {
    ...all,
    [`heap_per_instance_${many}`]: all[`heap_kb_per_instance_${many}`] ?? NaN,
    reconnect_cpu: all[`reconnect_cpu_ms_per_instance_${some}`] ?? NaN,
  }
  return { ratios, targets: { [`heap_per_instance_${many}`]: { atMost: 0.6 }, reconnect_cpu: { atMost: 0.5 } } }
}

async function withStage(
  count: number,
  preKeys: number,
  measure: (stage: Stage) => Promise<Compared>,
): Promise<Compared> {
  await using stage = await Stage.open(count, preKeys)
  const compared = await measure(stage)
  await stage.check()
  console.error(`${count} accounts measured after ${Math.round(performance.now() / 1000)} s`)
  return compared
}
