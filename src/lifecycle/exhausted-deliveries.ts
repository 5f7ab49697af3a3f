// Remembers which deliveries of live instances were exhausted or dropped during the last day, so that health can show them.
//
// An event that expires by design (a QR code, `backend_*`) is not remembered: the log line is enough for it.

import type { Delivery } from '../core/lifecycle/delivery.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Duties, RowScope } from '../core/nodes/duties.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'

type Deps = {
  deliveries: Pick<DeliveryStore, 'exhaustedSince'>
  duties: Pick<Duties, 'held'>
  clock: Pick<Clock, 'now'>
}

const shownMs = 24 * 3_600_000
/** Enough for an operator to see that something is wrong. */
const maxShown = 10_000

type Ended = { instance: InstanceName; endedAt: number }

export class ExhaustedDeliveries implements PerInstance {
  readonly #deps: Deps
  readonly #ended = new Map<string, Ended>()
  /** The subscribers of a deleted instance are still told, but no operator can send such an event again. */
  readonly #live = new Set<InstanceName>()
  #isLoaded = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Reads those of the previous process, with one read for all instances that were taken before. */
  async load(): Promise<void> {
    this.#isLoaded = true
    // Not those that this node serves: an instance is served when every part has taken it.
    const isAll = this.#deps.duties.held() === 'all'
    await this.#read(isAll ? 'all' : { held: [...this.#live], withDeleted: false })
  }

  async #read(scope: RowScope): Promise<void> {
    const { deliveries, clock } = this.#deps
    const found = await deliveries.exhaustedSince(clock.now() - shownMs, maxShown, scope)
    for (const { id, instance, finishedAt } of found) {
      if (this.#live.has(instance)) this.#ended.set(id, { instance, endedAt: finishedAt })
    }
  }

  async take(instance: InstanceName): Promise<void> {
    this.#live.add(instance)
    if (this.#isLoaded) await this.#read({ held: [instance], withDeleted: false })
  }

  leave(instance: InstanceName): void {
    this.#live.delete(instance)
    for (const [id, ended] of this.#ended) if (ended.instance === instance) this.#ended.delete(id)
  }

  get count(): number {
    this.#dropOld()
    return this.#ended.size
  }

  /** By instance: how many, and since when. */
  list(): { instance: InstanceName; count: number; since: number }[] {
    this.#dropOld()
    const found = new Map<InstanceName, { instance: InstanceName; count: number; since: number }>()
    for (const { instance, endedAt } of this.#ended.values()) {
      const { count = 0, since = endedAt } = found.get(instance) ?? {}
      found.set(instance, { instance, count: count + 1, since: Math.min(since, endedAt) })
    }
    return [...found.values()]
  }

  add({ id, instance, expiresAt }: Pick<Delivery, 'id' | 'instance' | 'expiresAt'>): void {
    if (expiresAt !== null || !this.#live.has(instance)) return
    this.#dropOld()
    if (this.#ended.size < maxShown) this.#ended.set(id, { instance, endedAt: this.#deps.clock.now() })
  }

  /** The delivery is sent again. */
  delete(id: string): void {
    this.#ended.delete(id)
  }

  #dropOld(): void {
    const since = this.#deps.clock.now() - shownMs
    for (const [id, { endedAt }] of this.#ended) if (endedAt <= since) this.#ended.delete(id)
  }
}
