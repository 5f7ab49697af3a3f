// Estimates how suspicious an account looks to the network: how fast it writes, to how many people, and how many messages
// are delivered.
//
// Each alert is quiet or risen. It rises when its value crosses the threshold, and is announced then, once. It becomes quiet
// again when the value falls below the threshold.

import type { InstanceName, Jid } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { getOrCreate } from '../lib/keyed.ts'
import { Tally } from './tally.ts'
import type { Sample } from './tally.ts'

const minute = 60_000
const velocity = { windowMs: minute, threshold: 30 }
const diversity = { windowMs: 5 * minute, threshold: 20 }
const delivery = { windowMs: 10 * minute, threshold: 0.7, minSamples: 10 }
// Far beyond every threshold: more samples change nothing.
const maxSamples = 5000

const banRiskAlerts = ['high_velocity', 'burst_outreach', 'low_delivery'] as const
export type BanRiskAlert = (typeof banRiskAlerts)[number]
type BanRiskLevel = 'ok' | 'low' | 'moderate' | 'high'

type BanRiskSnapshot = {
  velocity: number
  diversity: number
  ratio: number
  samples: number
  alerts: BanRiskAlert[]
  score: number
  level: BanRiskLevel
}

export const banRiskLimits = { velocity, diversity, delivery } as const

const windows = { velocityMs: velocity.windowMs, diversityMs: diversity.windowMs, deliveryMs: delivery.windowMs }

type Memory = { tally: Tally; risen: Set<BanRiskAlert> }
type Counts = ReturnType<Tally['counts']>

const nothing: Counts = { velocity: 0, diversity: 0, delivered: 0, samples: 0 }

export class BanRisk implements PerInstance {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #memories = new Map<InstanceName, Memory>()

  constructor({ clock }: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = clock
  }

  /** Records a finished part. Returns the alerts that rose. */
  record(instance: InstanceName, recipient: Jid, delivered: boolean): BanRiskAlert[] {
    const memory = getOrCreate(this.#memories, instance, newMemory)
    memory.tally.add({ at: this.#clock.monotonic(), recipient, delivered })
    return this.evaluate(instance)
  }

  /** Samples from before this process took the account, the oldest first. Their alerts were announced then. */
  restore(instance: InstanceName, samples: readonly Sample[]): void {
    if (samples.length === 0) return
    const memory = getOrCreate(this.#memories, instance, newMemory)
    for (const sample of samples) memory.tally.add(sample)
    memory.risen = new Set(this.snapshot(instance).alerts)
  }

  /** Returns the alerts that rose since the last call. */
  evaluate(instance: InstanceName): BanRiskAlert[] {
    const memory = this.#memories.get(instance)
    if (!memory) return []
    const { alerts: active, samples } = this.snapshot(instance)
    const rising = active.filter((alert) => !memory.risen.has(alert))
    memory.risen = new Set(active)
    if (samples === 0 && active.length === 0) this.#memories.delete(instance)
    return rising
  }

  snapshot(instance: InstanceName): BanRiskSnapshot {
    return assess(this.#memories.get(instance)?.tally.counts(this.#clock.monotonic()) ?? nothing)
  }

  instances(): InstanceName[] {
    return [...this.#memories.keys()]
  }

  leave(instance: InstanceName): void {
    this.#memories.delete(instance)
  }
}

function newMemory(): Memory {
  return { tally: new Tally(windows, maxSamples), risen: new Set() }
}

function assess({ velocity: speed, diversity: spread, delivered, samples }: Counts): BanRiskSnapshot {
  const ratio = samples === 0 ? 1 : delivered / samples
  const isSampled = samples >= delivery.minSamples
  const crossed: Record<BanRiskAlert, boolean> = {
    high_velocity: speed > velocity.threshold,
    burst_outreach: spread > diversity.threshold,
    low_delivery: isSampled && ratio < delivery.threshold,
  }
  const alerts = banRiskAlerts.filter((alert) => crossed[alert])
  const missing = isSampled ? Math.max(0, (delivery.threshold - ratio) / delivery.threshold) : 0
  const weighed =
    0.4 * Math.min(speed / velocity.threshold, 2) + 0.3 * Math.min(spread / diversity.threshold, 2) + 0.3 * missing
  const score = Math.min(1, weighed / 1.7)
  return {
    velocity: speed,
    diversity: spread,
    ratio,
    samples,
    alerts,
    score,
    level: levelOf(score, alerts),
  }
}

function levelOf(score: number, alerts: readonly BanRiskAlert[]): BanRiskLevel {
  if (score >= 0.7) return 'high'
  if (score >= 0.4 || alerts.length > 0) return 'moderate'
  return score > 0.1 ? 'low' : 'ok'
}
