// Remembers which accounts the network has restricted to people who wrote to them, also across restarts.

import type { InstanceName } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Restriction, RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'

const hour = 3_600_000
/** A later end is not believed: a wrong number must not stop an account for ever. */
const maxRestrictionMs = 7 * 24 * hour

type Deps = {
  store: Pick<RestrictionStore, 'find' | 'save' | 'remove'>
  clock: Pick<Clock, 'now'>
  /** When the restriction ends; null when the network does not say. */
  askNetwork: (instance: InstanceName) => Promise<number | null>
}

export class Restrictions implements PerInstance {
  readonly #deps: Deps
  readonly #known = new Map<InstanceName, Restriction>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async take(instance: InstanceName): Promise<void> {
    const stored = await this.#deps.store.find(instance)
    if (stored) this.#known.set(instance, stored)
  }

  leave(instance: InstanceName): void {
    this.#known.delete(instance)
  }

  /** When the restriction in force ends; undefined without one. */
  until(instance: InstanceName): number | undefined {
    const until = this.#known.get(instance)?.until ?? 0
    return until > this.#deps.clock.now() ? until : undefined
  }

  /**
   * The network refused a message because of a restriction. Returns true when that is a strike, which is at most once an hour.
   * The restriction lasts an hour, until the network has said when it ends. The caller does not wait for that.
   */
  async record(instance: InstanceName): Promise<boolean> {
    const now = this.#deps.clock.now()
    const { until = 0, struckAt = 0 } = this.#known.get(instance) ?? {}
    // A time in the future was stored before the clock was put back.
    const strikes = struckAt > now || now - struckAt >= hour
    const noted = { until: Math.max(until, now + hour), struckAt: strikes ? now : struckAt }
    await this.#keep(instance, noted)
    void this.#learnEnd(instance, noted)
    return strikes
  }

  async #learnEnd(instance: InstanceName, noted: Restriction): Promise<void> {
    const { askNetwork, clock } = this.#deps
    const said = await askNetwork(instance).catch(() => null)
    const now = clock.now()
    if (said === null || said <= now || this.#known.get(instance) !== noted) return
    // If this is not stored, the restriction lasts an hour again after a restart.
    await this.#keep(instance, { ...noted, until: Math.min(said, now + maxRestrictionMs) }).catch(ignoreRejection)
  }

  async #keep(instance: InstanceName, restriction: Restriction): Promise<void> {
    this.#known.set(instance, restriction)
    await this.#deps.store.save(instance, restriction)
  }

  /** The instance is deleted. */
  async forget(instance: InstanceName): Promise<void> {
    this.leave(instance)
    await this.#deps.store.remove(instance)
  }
}
