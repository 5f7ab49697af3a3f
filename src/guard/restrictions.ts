// Accounts that the network lets write only to people they have a chat with; known across restarts.

import type { Clock } from '../lib/clock.ts'
import type { RestrictionStore } from '../storage/restriction-store.ts'

const hour = 3_600_000

type Deps = { store: RestrictionStore; clock: Pick<Clock, 'now'> }
type Restriction = { until: number; struckAt: number }

export class Restrictions {
  readonly #deps: Deps
  readonly #known = new Map<string, Restriction>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async load(): Promise<void> {
    for (const { instance, until, struck_at } of await this.#deps.store.list()) {
      this.#known.set(instance, { until, struckAt: struck_at })
    }
  }

  /** When the restriction in force ends; undefined without one. */
  until(instance: string): number | undefined {
    const until = this.#known.get(instance)?.until ?? 0
    return until > this.#deps.clock.now() ? until : undefined
  }

  /** The network refused a message for it; true when that is worth a strike, which is once an hour. */
  async note(instance: string): Promise<boolean> {
    const now = this.#deps.clock.now()
    const struckAt = this.#known.get(instance)?.struckAt ?? 0
    const strikes = now - struckAt >= hour
    const next = { until: now + hour, struckAt: strikes ? now : struckAt }
    this.#known.set(instance, next)
    await this.#deps.store.save({ instance, until: next.until, struck_at: next.struckAt })
    return strikes
  }

  async forget(instance: string): Promise<void> {
    if (this.#known.delete(instance)) await this.#deps.store.remove(instance)
  }
}
