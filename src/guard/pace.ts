// How fast an account may write: so many messages a minute, and one after the other when it comes back with a backlog.

import type { PerInstance } from '../core/per-instance.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Lane } from '../lib/lane.ts'

const minute = 60_000

type Deps = {
  /** Messages per minute and instance; 0 is no limit. */
  perMinute: number
  /** Queued messages per second and instance; 0 is no limit. */
  drainPerSecond: number
  clock: Clock
  random: () => number
}

type Gauge = {
  minute: Lane
  /** How many are in the lane of the minute. */
  waiting: number
  drain: Lane
  taken: number[]
  nextDrainAt: number
}

export class Pace implements PerInstance {
  readonly #deps: Deps
  readonly #gauges = new Map<string, Gauge>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when it is this message's turn, in the order of asking. False when the signal came first. */
  async acquire(instance: string, { drained }: { drained: boolean }, signal: AbortSignal): Promise<boolean> {
    const gauge = this.#gaugeOf(instance)
    const { perMinute, drainPerSecond } = this.#deps
    // Those that were queued wait among themselves, so that a fresh message to somebody else need not.
    if (drained && drainPerSecond > 0) await gauge.drain.run(() => this.#drainTurn(gauge, signal))
    if (perMinute > 0 && !signal.aborted) {
      gauge.waiting += 1
      await gauge.minute.run(() => this.#minuteTurn(gauge, signal)).finally(() => (gauge.waiting -= 1))
    }
    return !signal.aborted
  }

  /** Takes a turn that need not be waited for; false when there is none. */
  tryAcquire(instance: string): boolean {
    const { perMinute } = this.#deps
    if (perMinute === 0) return true
    const gauge = this.#gaugeOf(instance)
    if (gauge.waiting > 0 || this.#pauseOf(gauge) > 0) return false
    this.#take(gauge)
    return true
  }

  /** A turn that was taken at once and not used. */
  release(instance: string): void {
    this.#gauges.get(instance)?.taken.pop()
  }

  /** Whether a message that comes now would have to wait. */
  isExhausted(instance: string): boolean {
    const gauge = this.#gauges.get(instance)
    return this.#deps.perMinute > 0 && gauge !== undefined && this.#pauseOf(gauge) > 0
  }

  leave(instance: string): void {
    this.#gauges.delete(instance)
  }

  async #drainTurn(gauge: Gauge, signal: AbortSignal): Promise<void> {
    const { clock, random, drainPerSecond } = this.#deps
    const pause = gauge.nextDrainAt - clock.monotonic()
    if (pause > 0) await sleep(clock, pause, signal)
    // Jittered: a machine's rhythm is what gets numbers banned.
    gauge.nextDrainAt = clock.monotonic() + (1000 / drainPerSecond) * (0.75 + 0.5 * random())
  }

  async #minuteTurn(gauge: Gauge, signal: AbortSignal): Promise<void> {
    const pause = this.#pauseOf(gauge)
    if (pause > 0) await sleep(this.#deps.clock, pause, signal)
    if (!signal.aborted) this.#take(gauge)
  }

  #take({ taken }: Gauge): void {
    const { clock, perMinute } = this.#deps
    taken.push(clock.monotonic())
    if (taken.length > perMinute) taken.shift()
  }

  #pauseOf({ taken }: Gauge): number {
    const { clock, perMinute } = this.#deps
    const oldest = taken[taken.length - perMinute]
    return oldest === undefined ? 0 : Math.max(0, oldest + minute - clock.monotonic())
  }

  #gaugeOf(instance: string): Gauge {
    const known = this.#gauges.get(instance)
    if (known) return known
    const gauge = { minute: new Lane(), waiting: 0, drain: new Lane(), taken: [], nextDrainAt: 0 }
    this.#gauges.set(instance, gauge)
    return gauge
  }
}
