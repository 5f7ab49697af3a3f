// Accounts that the network lets write only to people they have a chat with; known across restarts.

import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import type { Restriction, RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'

const hour = 3_600_000
/** What the network says is not believed beyond this: an account must not be shut for ever by a wrong number. */
const longest = 7 * 24 * hour

type Deps = {
  store: RestrictionStore
  clock: Pick<Clock, 'now'>
  /** When the restriction ends by the network's own word; null when it says nothing. */
  askNetwork: (instance: string) => Promise<number | null>
}

export class Restrictions implements PerInstance {
  readonly #deps: Deps
  readonly #known = new Map<string, Restriction>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async take(instance: string): Promise<void> {
    const stored = await this.#deps.store.find(instance)
    if (stored) this.#known.set(instance, stored)
  }

  leave(instance: string): void {
    this.#known.delete(instance)
  }

  /** When the restriction in force ends; undefined without one. */
  until(instance: string): number | undefined {
    const until = this.#known.get(instance)?.until ?? 0
    return until > this.#deps.clock.now() ? until : undefined
  }

  /**
   * The network refused a message for it; true when that is worth a strike, which is once an hour. The restriction counts as
   * one of an hour until the network has said when it ends, which nobody waits for.
   */
  async record(instance: string): Promise<boolean> {
    const now = this.#deps.clock.now()
    const { until = 0, struckAt = 0 } = this.#known.get(instance) ?? {}
    const strikes = now - struckAt >= hour
    const noted = { until: Math.max(until, now + hour), struckAt: strikes ? now : struckAt }
    await this.#keep(instance, noted)
    void this.#learnEnd(instance, noted)
    return strikes
  }

  async #learnEnd(instance: string, noted: Restriction): Promise<void> {
    const { askNetwork, clock } = this.#deps
    const said = await askNetwork(instance).catch(() => null)
    const now = clock.now()
    if (said === null || said <= now || this.#known.get(instance) !== noted) return
    // Not stored means only that after a restart it counts as the hour again.
    await this.#keep(instance, { ...noted, until: Math.min(said, now + longest) }).catch(() => undefined)
  }

  async #keep(instance: string, restriction: Restriction): Promise<void> {
    this.#known.set(instance, restriction)
    await this.#deps.store.save(instance, restriction)
  }

  async forget(instance: string): Promise<void> {
    this.leave(instance)
    await this.#deps.store.remove(instance)
  }
}
