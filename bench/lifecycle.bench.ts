// How long 18 healthy subscribers wait for an event, with a dead and a slow one beside them and without.

import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import type { SenderDesk } from './lifecycle-sender.ts'
import type { SubscribersDesk } from './lifecycle-subscribers.ts'

const rounds = 5
const subscriberCount = 20
const events = 60
const everyMs = 100

export async function run(): Promise<BenchmarkResult> {
  await using subscribers = new Child<SubscribersDesk>('./lifecycle-subscribers.ts')
  await using sender = new Child<SenderDesk>('./lifecycle-sender.ts')
  const urls = await subscribers.ask('open', subscriberCount)
  const measure = async (withTrouble: boolean) => {
    await subscribers.ask('begin', withTrouble)
    await sender.ask('run', { urls, events, everyMs })
    const sorted = (await subscribers.ask('latencies')).toSorted((a, b) => a - b)
    const expected = events * (subscriberCount - 2)
    if (sorted.length !== expected) throw new Error(`${sorted.length} deliveries arrived, ${expected} were sent`)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN
    return { p50: at(0.5), p99: at(0.99) }
  }
  await measure(false)
  const { alone, beside } = await interleave(rounds, { alone: () => measure(false), beside: () => measure(true) })
  const figures = {
    p50_ms_alone: round(alone['p50'] ?? NaN),
    p50_ms_beside_dead_and_slow: round(beside['p50'] ?? NaN),
    p99_ms_alone: round(alone['p99'] ?? NaN),
    p99_ms_beside_dead_and_slow: round(beside['p99'] ?? NaN),
  }
  const ratios = { p99_beside_dead_and_slow: round((beside['p99'] ?? NaN) / (alone['p99'] ?? NaN)) }
  return { figures, ratios, targets: { p99_beside_dead_and_slow: { atMost: 2 } } }
}
