// Remembers which deliveries were exhausted during the last day, so that health can show them.
//
// An event that expires by design (a QR code, `backend_*`) is not remembered: the log line is enough for it.

import type { Delivery } from '../core/delivery.ts'
import type { Clock } from '../lib/clock.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'

type Deps = { deliveries: Pick<DeliveryStore, 'exhaustedSince'>; clock: Pick<Clock, 'now'> }

const shownMs = 24 * 3_600_000
/** Enough for an operator to see that something is wrong. */
const maxShown = 10_000

export class ExhaustedDeliveries {
  readonly #deps: Deps
  /** When each delivery ended, by id, oldest first. */
  readonly #endedAt = new Map<string, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Reads those of the process before. */
  async load(): Promise<void> {
    const { deliveries, clock } = this.#deps
    const found = await deliveries.exhaustedSince(clock.now() - shownMs, maxShown)
    for (const { id, finishedAt } of found) this.#endedAt.set(id, finishedAt)
  }

  get count(): number {
    this.#dropOld()
    return this.#endedAt.size
  }

  add({ id, expiresAt }: Pick<Delivery, 'id' | 'expiresAt'>): void {
    if (expiresAt !== null) return
    this.#dropOld()
    if (this.#endedAt.size < maxShown) this.#endedAt.set(id, this.#deps.clock.now())
  }

  /** The delivery is sent again. */
  delete(id: string): void {
    this.#endedAt.delete(id)
  }

  #dropOld(): void {
    const since = this.#deps.clock.now() - shownMs
    for (const [id, endedAt] of this.#endedAt) if (endedAt <= since) this.#endedAt.delete(id)
  }
}
