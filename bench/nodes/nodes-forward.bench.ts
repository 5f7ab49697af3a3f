// What a callback costs that reaches a node which does not hold the instance, against one that reaches the owner.

import { inTurn, medianRatio, medians, round } from '../benchmark.ts'
import type { BenchmarkResult } from '../benchmark.ts'
import { Child } from '../child.ts'
import type { CallbackDesk } from '../outbound-callbacks.ts'
import type { SimDesk } from '../outbound-sim.ts'
import { BenchPostgres } from '../postgres.ts'
import { CallbackStage } from './callback-stage.ts'

const instances = Number(process.env['BENCH_INSTANCES'] ?? 20)
const messages = Number(process.env['BENCH_MESSAGES'] ?? 400)
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 12)

export async function run(): Promise<BenchmarkResult> {
  await using postgres = await BenchPostgres.start()
  await using sim = new Child<SimDesk>('./outbound-sim.ts')
  await using callbacks = new Child<CallbackDesk>('./outbound-callbacks.ts')
  await using stage = await CallbackStage.open({ postgres, sim, callbacks, size: 2, instances, prefix: '551190' })
  const ways = {
    owner: async () => stage.write(await urlsOf(stage, true), messages),
    stranger: async () => stage.write(await urlsOf(stage, false), messages),
  }
  await stage.warmUp(() => inTurn(1, ways), 2 * messages, 2 * rounds)
  const measured = await inTurn(rounds, ways)
  await stage.check()
  const result: BenchmarkResult = { figures: {}, ratios: {}, targets: { cpu: { atMost: 1.15 } } }
  for (const way of ['owner', 'stranger'] as const) {
    for (const [figure, value] of Object.entries(medians(measured[way]))) {
      result.figures[`${way}_${figure}`] = round(value)
    }
  }
  result.ratios['cpu'] = round(medianRatio(measured.stranger, measured.owner, 'cpu_ms'))
  result.ratios['p50'] = round(medianRatio(measured.stranger, measured.owner, 'p50_ms'))
  return result
}

/** For each instance the address of its owner, or of the other node. */
async function urlsOf({ set }: CallbackStage, isOwner: boolean): Promise<string[][]> {
  const owners = await set.owners()
  return owners.map(({ node }) => {
    return set.nodes.filter((each) => (each === node) === isOwner).map(({ url }) => url)
  })
}
