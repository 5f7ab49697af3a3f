// How an account looks to the network: how fast it writes, to how many people, and how much of it is taken.
//
// Each alert has two modes: quiet → risen when its signal crosses the threshold (told once) → quiet when it clears.

import type { Clock } from '../lib/clock.ts'

const minute = 60_000
const velocity = { windowMs: minute, threshold: 30 }
const diversity = { windowMs: 5 * minute, threshold: 20 }
const delivery = { windowMs: 10 * minute, threshold: 0.7, minSamples: 10 }
// Far beyond every threshold: more is not worth remembering.
const maxSamples = 5000

export const banRiskAlerts = ['high_velocity', 'burst_outreach', 'low_delivery'] as const
export type BanRiskAlert = (typeof banRiskAlerts)[number]
export type BanRiskLevel = 'ok' | 'low' | 'moderate' | 'high'

export type BanRiskSnapshot = {
  velocity: number
  diversity: number
  ratio: number
  samples: number
  alerts: BanRiskAlert[]
  score: number
  level: BanRiskLevel
}

export const banRiskLimits = { velocity, diversity, delivery } as const

/** A part that has come to its end: acknowledged, or not. */
type Sample = { at: number; recipient: string; delivered: boolean }
type Memory = { samples: Sample[]; risen: Set<BanRiskAlert> }

export class BanRisk {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #memories = new Map<string, Memory>()

  constructor({ clock }: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = clock
  }

  /** Remembers a finished part; the alerts that rose with it. */
  record(instance: string, recipient: string, delivered: boolean): BanRiskAlert[] {
    const memory = this.#memories.get(instance) ?? { samples: [], risen: new Set() }
    this.#memories.set(instance, memory)
    memory.samples.push({ at: this.#clock.monotonic(), recipient, delivered })
    if (memory.samples.length > maxSamples) memory.samples.shift()
    return this.evaluate(instance)
  }

  /** The alerts that rose since the last look. */
  evaluate(instance: string): BanRiskAlert[] {
    const memory = this.#memories.get(instance)
    if (!memory) return []
    const active = this.snapshot(instance).alerts
    const rising = active.filter((alert) => !memory.risen.has(alert))
    memory.risen = new Set(active)
    if (memory.samples.length === 0 && active.length === 0) this.#memories.delete(instance)
    return rising
  }

  snapshot(instance: string): BanRiskSnapshot {
    const samples = this.#recent(instance)
    return assess(samples, this.#clock.monotonic())
  }

  instances(): string[] {
    return [...this.#memories.keys()]
  }

  forget(instance: string): void {
    this.#memories.delete(instance)
  }

  #recent(instance: string): readonly Sample[] {
    const memory = this.#memories.get(instance)
    if (!memory) return []
    const since = this.#clock.monotonic() - delivery.windowMs
    const first = memory.samples.findIndex(({ at }) => at > since)
    memory.samples.splice(0, first === -1 ? memory.samples.length : first)
    return memory.samples
  }
}

function assess(samples: readonly Sample[], now: number): BanRiskSnapshot {
  const within = (ms: number) => samples.filter(({ at }) => at > now - ms)
  const speed = within(velocity.windowMs).length
  const spread = new Set(within(diversity.windowMs).map(({ recipient }) => recipient)).size
  const taken = samples.filter(({ delivered }) => delivered).length
  const ratio = samples.length === 0 ? 1 : taken / samples.length
  const isSampled = samples.length >= delivery.minSamples
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
    samples: samples.length,
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
