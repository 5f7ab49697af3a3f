// How many messages of agents nodes send per second of their CPU: two nodes that get every callback by chance, against one node.
// Each of the two has as many instances and messages as the one: with fewer messages a commit holds fewer, and each costs more.

import { availableParallelism } from 'node:os'
import { inTurn, medianRatio, medians, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { Child } from '../child.ts'
import type { Figures } from '../flow.ts'
import type { CallbackDesk } from '../outbound-callbacks.ts'
import type { SimDesk } from '../outbound-sim.ts'
import { BenchPostgres } from '../postgres.ts'
import { CallbackStage } from './callback-stage.ts'

/** Of each node. */
const instances = Number(process.env['BENCH_INSTANCES'] ?? 50)
/** For each node. */
const messages = Number(process.env['BENCH_MESSAGES'] ?? 1000)
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 12)
const size = Number(process.env['BENCH_NODES'] ?? 2)
/** Two nodes, PostgreSQL, the simulator and the benchmark itself: with fewer cores the wall time shows the machine. */
const coresForWall = 6

export async function run(): Promise<BenchmarkResult> {
  await using postgres = await BenchPostgres.start()
  await using sim = new Child<SimDesk>('./outbound-sim.ts')
  await using callbacks = new Child<CallbackDesk>('./outbound-callbacks.ts')
  const sides = { postgres, sim, callbacks }
  await using one = await CallbackStage.open({ ...sides, size: 1, instances, prefix: '551190' })
  const all = instances * size
  await using several = await CallbackStage.open({ ...sides, size, instances: all, prefix: '551170' })
  const ways = {
    one: () => block(one, instances, messages),
    several: () => block(several, all, messages * size),
  }
  await one.warmUp(ways.one, messages, 2 * rounds)
  await several.warmUp(ways.several, messages * size, 2 * rounds)
  const measured = await inTurn(rounds, ways)
  await several.check()
  const result: BenchmarkResult = {
    figures: {},
    ratios: {
      per_cpu_second: round(medianRatio(measured.several, measured.one, 'messages_per_cpu_s')),
      per_second: round(medianRatio(measured.several, measured.one, 'messages_per_s')),
    },
    targets: {
      per_cpu_second: { atLeast: 0.9 },
      ...(availableParallelism() >= coresForWall && size === 2 && { per_second: { atLeast: 1.8 } }),
    },
  }
  for (const way of ['one', 'several'] as const) {
    for (const [figure, value] of Object.entries(medians(measured[way]))) {
      result.figures[`${way}_${figure}`] = round(value)
    }
  }
  return result
}

/** The callbacks of each instance go to all nodes in turn: of two nodes, half of them are forwarded. */
async function block(stage: CallbackStage, busy: number, count: number): Promise<Figures> {
  const urls = stage.set.nodes.map(({ url }) => url)
  const figures = await stage.write(
    Array.from({ length: busy }, () => urls),
    count,
  )
  return { ...figures, messages_per_cpu_s: 1000 / (figures['cpu_ms'] ?? NaN) }
}
