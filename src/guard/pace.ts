// Limits how fast an account sends: a number of messages per minute, and a lower rate for messages that waited for a connection.

import type { InstanceName } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { getOrCreate } from '../lib/keyed.ts'
import { Lane } from '../lib/queues/lane.ts'
import type { SendLimit, SendLimits } from './send-limits.ts'

const minute = 60_000
/** The limit may change while a message waits: it is looked up again after this time. */
const lookMs = 5000

type Deps = {
  limits: Pick<SendLimits, 'of'>
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

/** The right to send one message now. `giveBack` is for a message that was not sent: another one may have its place. */
export type Acquired = { giveBack: () => void }

export class Pace implements PerInstance {
  readonly #deps: Deps
  readonly #gauges = new Map<InstanceName, Gauge>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The limit that is in force now. */
  limitOf(instance: InstanceName): SendLimit {
    return this.#deps.limits.of(instance)
  }

  /** Resolves when the message may be sent, in the order of the calls. False when the signal aborted first. */
  async acquire(instance: InstanceName, { isDrained }: { isDrained: boolean }, signal: AbortSignal): Promise<boolean> {
    const gauge = this.#gaugeOf(instance)
    const { drainPerSecond } = this.#deps
    // Messages that waited for a connection have a lane of their own, so that a new message need not wait for them.
    if (isDrained && drainPerSecond > 0) await gauge.drain.run(() => this.#drainTurn(gauge, signal))
    if (this.#mustQueue(instance, gauge) && !signal.aborted) {
      gauge.waiting += 1
      await gauge.minute.run(() => this.#minuteTurn(instance, gauge, signal)).finally(() => (gauge.waiting -= 1))
    }
    return !signal.aborted
  }

  /** Undefined when the message would have to wait. */
  tryAcquire(instance: InstanceName): Acquired | undefined {
    const gauge = this.#gaugeOf(instance)
    if (!this.#mustQueue(instance, gauge)) return uncounted
    if (gauge.waiting > 0 || this.#pauseOf(gauge, this.limitOf(instance).perMinute) > 0) return undefined
    const at = this.#take(gauge)
    return {
      giveBack: () => {
        giveBack(gauge, at)
      },
    }
  }

  /** Whether a new message would have to wait. */
  isExhausted(instance: InstanceName): boolean {
    const gauge = this.#gauges.get(instance)
    return gauge !== undefined && this.#pauseOf(gauge, this.limitOf(instance).perMinute) > 0
  }

  /** Messages that left before this process took the account; the times are monotonic, the oldest first. */
  restore(instance: InstanceName, times: readonly number[]): void {
    const since = this.#deps.clock.monotonic() - minute
    const counting = times.filter((at) => at > since)
    if (counting.length > 0) this.#gaugeOf(instance).taken.unshift(...counting)
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

  /** Without a limit too, while messages wait that came before the limit was lifted. */
  #mustQueue(instance: InstanceName, { waiting }: Gauge): boolean {
    return waiting > 0 || this.limitOf(instance).perMinute > 0
  }

  async #minuteTurn(instance: InstanceName, gauge: Gauge, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    for (;;) {
      const { perMinute } = this.limitOf(instance)
      const pause = this.#pauseOf(gauge, perMinute)
      if (signal.aborted) return
      if (pause === 0) {
        this.#take(gauge)
        return
      }
      await sleep(clock, Math.min(pause, lookMs), signal)
    }
  }

  /** Turns that are older than a minute no longer count. Returns the time of the new turn. */
  #take({ taken }: Gauge): number {
    const now = this.#deps.clock.monotonic()
    taken.push(now)
    const firstThatCounts = taken.findIndex((at) => at > now - minute)
    if (firstThatCounts > 0) taken.splice(0, firstThatCounts)
    return now
  }

  /** Without a limit there is no pause. */
  #pauseOf({ taken }: Gauge, perMinute: number): number {
    const oldest = perMinute === 0 ? undefined : taken[taken.length - perMinute]
    return oldest === undefined ? 0 : Math.max(0, oldest + minute - this.#deps.clock.monotonic())
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

/** Without a limit no message is counted. */
const uncounted: Acquired = { giveBack: () => undefined }

/** Turns of the same moment are alike. One that is older than a minute may be forgotten already. */
function giveBack({ taken }: Gauge, at: number): void {
  const index = taken.lastIndexOf(at)
  if (index >= 0) taken.splice(index, 1)
}
