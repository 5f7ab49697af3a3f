// Limits how fast an account sends: a number of messages per minute, and a lower rate for messages that waited for a connection.

import type { InstanceName } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { getOrCreate } from '../lib/keyed.ts'
import { Lane } from '../lib/queues/lane.ts'

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
  /** How many messages are in the lane `minute`. */
  waiting: number
  drain: Lane
  taken: number[]
  nextDrainAt: number
}

export class Pace implements PerInstance {
  readonly #deps: Deps
  readonly #gauges = new Map<InstanceName, Gauge>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Messages per minute and instance; 0 is no limit. */
  get perMinute(): number {
    return this.#deps.perMinute
  }

  /** Resolves when the message may be sent, in the order of the calls. False when the signal aborted first. */
  async acquire(instance: InstanceName, { isDrained }: { isDrained: boolean }, signal: AbortSignal): Promise<boolean> {
    const gauge = this.#gaugeOf(instance)
    const { perMinute, drainPerSecond } = this.#deps
    // Messages that waited for a connection have a lane of their own, so that a new message need not wait for them.
    if (isDrained && drainPerSecond > 0) await gauge.drain.run(() => this.#drainTurn(gauge, signal))
    if (perMinute > 0 && !signal.aborted) {
      gauge.waiting += 1
      await gauge.minute.run(() => this.#minuteTurn(gauge, signal)).finally(() => (gauge.waiting -= 1))
    }
    return !signal.aborted
  }

  /** False when the message would have to wait. */
  tryAcquire(instance: InstanceName): boolean {
    const { perMinute } = this.#deps
    if (perMinute === 0) return true
    const gauge = this.#gaugeOf(instance)
    if (gauge.waiting > 0 || this.#pauseOf(gauge) > 0) return false
    this.#take(gauge)
    return true
  }

  /** Gives back a turn of `tryAcquire` that was not used. */
  release(instance: InstanceName): void {
    this.#gauges.get(instance)?.taken.pop()
  }

  /** Whether a new message would have to wait. */
  isExhausted(instance: InstanceName): boolean {
    const gauge = this.#gauges.get(instance)
    return this.#deps.perMinute > 0 && gauge !== undefined && this.#pauseOf(gauge) > 0
  }

  leave(instance: InstanceName): void {
    this.#gauges.delete(instance)
  }

  async #drainTurn(gauge: Gauge, signal: AbortSignal): Promise<void> {
    const { clock, random, drainPerSecond } = this.#deps
    const pause = gauge.nextDrainAt - clock.monotonic()
    if (pause > 0) await sleep(clock, pause, signal)
    // With jitter: an even rhythm looks like a machine, and gets numbers banned.
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

  #gaugeOf(instance: InstanceName): Gauge {
    return getOrCreate(this.#gauges, instance, () => ({
      minute: new Lane(),
      waiting: 0,
      drain: new Lane(),
      taken: [],
      nextDrainAt: 0,
    }))
  }
}
