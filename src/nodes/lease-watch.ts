// Watches the lease of another owner, to tell an owner that is gone from one whose lease runs.

import type { Clock } from '../lib/clock.ts'
import type { LeaseHolder, SeenLease } from '../storage/stores/lease-store.ts'

type Deps = {
  /** True only if the process of this name is certainly dead. */
  isDead: (owner: string) => boolean
  clock: Pick<Clock, 'monotonic'>
  leaseMs: number
}

export class LeaseWatch {
  readonly #deps: Deps
  #seen: (SeenLease & { since: number }) | undefined
  #ownerMayRun = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the owner that was seen last has not given the lease back and may still run. */
  get ownerMayRun(): boolean {
    return this.#ownerMayRun
  }

  /**
   * Returns the lease if its owner is gone although the lease has not expired. The owner is dead, or it has not renewed the
   * lease for as long as a lease lasts. Then the end of the lease comes from a clock that was wrong.
   */
  look(holder: LeaseHolder | undefined): SeenLease | undefined {
    const { isDead, clock, leaseMs } = this.#deps
    const isGone = !holder || holder.isReleased || isDead(holder.owner)
    this.#ownerMayRun = !isGone
    if (isGone) return holder
    const { owner, expiresAt } = holder
    if (this.#seen?.owner !== owner || this.#seen.expiresAt !== expiresAt) {
      this.#seen = { owner, expiresAt, since: clock.monotonic() }
    }
    return clock.monotonic() - this.#seen.since >= leaseMs ? this.#seen : undefined
  }
}
