// How long messages take at half of the highest rate that the service reaches in the same run: a callback until its answer,
// and a received message from the socket until the helpdesk has it.

import { loadavg } from 'node:os'
import { medians, percentile, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { callback, inbound } from './directions.ts'
import type { Direction } from './directions.ts'
import { openLatencyStage } from './latency-stage.ts'
import type { LatencyStage } from './latency-stage.ts'

type Figures = Record<string, number>

const instances = Number(process.env['BENCH_INSTANCES'] ?? 50)
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
/** In each closed loop. The first ones make the service quick: before that, most of its time goes into compiling. */
const messages = Number(process.env['BENCH_MESSAGES'] ?? 4000)
const openLoopSeconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const directions = { callback, inbound }
const limitsMs = { callback: 25, inbound: 60 }

export async function run(): Promise<BenchmarkResult> {
  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: {} }
  for (const name of ['callback', 'inbound'] as const) {
    const figures = await measure(directions[name])
    for (const [figure, value] of Object.entries(figures)) result.figures[`${name}_${figure}`] = round(value)
    const ratio = `${name}_p99_against_${limitsMs[name]}_ms`
    result.ratios[ratio] = round((figures['p99_ms'] ?? NaN) / limitsMs[name])
    result.targets[ratio] = { atMost: 1 }
  }
  return result
}

async function measure(direction: Direction): Promise<Figures> {
  await using stack = new AsyncDisposableStack()
  const stage = await openLatencyStage(stack, instances)
  await direction.meet(stage)
  await direction.asFastAsItGoes(stage, messages)
  const began = performance.now()
  const busy = await usedCores(stage, () => direction.asFastAsItGoes(stage, messages))
  const highest = messages / ((performance.now() - began) / 1000)
  const measured: Figures[] = []
  for (let n = 0; n < rounds; n++) measured.push(await measureOpenLoop(stage, direction, highest / 2))
  const problems = await stage.network.ask('problems')
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return { highest_per_s: highest, ...named('highest', busy), offered_per_s: highest / 2, ...medians(measured) }
}

async function measureOpenLoop(stage: LatencyStage, direction: Direction, perSecond: number): Promise<Figures> {
  const arrivals = { perSecond, count: Math.ceil(perSecond * openLoopSeconds) }
  await stage.service.ask('watchLoop')
  let waits = { times: [] as number[], late: [] as number[] }
  const cores = await usedCores(stage, async () => {
    waits = await direction.atArrivals(stage, arrivals)
  })
  return {
    p50_ms: percentile(waits.times, 0.5),
    p95_ms: percentile(waits.times, 0.95),
    p99_ms: percentile(waits.times, 0.99),
    max_ms: Math.max(...waits.times),
    // High values mean that the machine is busy with other work, or that the benchmark itself is too slow.
    late_p99_ms: percentile(waits.late, 0.99),
    loop_delay_p99_ms: await stage.service.ask('loopDelayP99Ms'),
    ...cores,
    load_average: loadavg()[0] ?? NaN,
  }
}

/** How many cores each process uses meanwhile. */
async function usedCores({ service, network, helpdesk }: LatencyStage, work: () => Promise<void>): Promise<Figures> {
  const used = async () => [await service.ask('cpuMs'), await network.ask('cpuMs'), await helpdesk.ask('cpuMs')]
  const [before, began] = [await used(), performance.now()]
  await work()
  const wallMs = performance.now() - began
  const [service_cores = NaN, network_cores = NaN, helpdesk_cores = NaN] = (await used()).map(
    (cpuMs, index) => (cpuMs - (before[index] ?? NaN)) / wallMs,
  )
  return { service_cores, network_cores, helpdesk_cores }
}

function named(prefix: string, figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]))
}
