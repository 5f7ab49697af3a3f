// How long 18 healthy subscribers wait for an event, with a dead and a slow one beside them and without.

import { interleave, percentile, round } from './benchmark.ts'
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
    const times = await subscribers.ask('latencies')
    const expected = events * (subscriberCount - 2)
    if (times.length !== expected) throw new Error(`${times.length} deliveries arrived, ${expected} were sent`)
    return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
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
