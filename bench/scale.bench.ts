// Thousands of accounts in one process: memory, idle CPU, a drop of all connections, and how fast the service answers then.

import { round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Stage } from './instances-stage.ts'
import { measureBare, measureConnecting, measureDrop, measureIdling, measureReading } from './scale-measures.ts'
import type { Figures } from './scale-measures.ts'

/** BENCH_INSTANCES=200 for a quick try. */
const count = Number(process.env['BENCH_INSTANCES'] ?? 5_000)
const idleMs = Number(process.env['BENCH_IDLE_MS'] ?? 60_000)
/** How long the bare library may take; 0 leaves it out. */
const bareMs = Number(process.env['BENCH_BARE_MS'] ?? 240_000)
/** The ready credentials of the simulator. 812 each, as after a pairing, would be four million rows. */
const preKeys = 30

/** What the service may use at most; each ratio is the figure against its limit. */
const limits: Figures = {
  heap_kb_per_account: 100,
  resident_kb_per_account: 250,
  idle_cpu_ms_per_account_and_minute: 1.5,
  idle_loop_delay_p99_ms: 50,
  reconnect_cpu_ms_per_account: 9,
  reconnect_all_wall_s: 90,
  reconnect_loop_delay_p99_ms: 50,
}

export async function run(): Promise<BenchmarkResult> {
  await using stage = await Stage.open(count, preKeys)
  const figures: Figures = { accounts: count }
  const measure = async (name: string, part: Promise<Figures>) => {
    for (const [figure, value] of Object.entries(await part)) figures[figure] = round(value)
    console.error(`${name} measured after ${Math.round(performance.now() / 1000)} s`)
  }
  await measure('connecting', measureConnecting(stage))
  await measure('idling', measureIdling(stage, idleMs))
  await measure('reading', measureReading(stage))
  await measure('a drop', measureDrop(stage))
  await stage.check()
  if (bareMs > 0) await measure('the bare library', measureBare(stage, bareMs))
  const names = Object.keys(limits)
  return {
    figures,
    ratios: Object.fromEntries(names.map((name) => [name, round((figures[name] ?? NaN) / (limits[name] ?? NaN))])),
    targets: Object.fromEntries(names.map((name) => [name, { atMost: 1 }])),
  }
}
