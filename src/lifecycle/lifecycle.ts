// Announces the lifecycle events of all instances: they are stored with the change that caused them, counted, and delivered.

import type { DeliveryReport } from '../core/lifecycle/delivery.ts'
import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import type { Announcement, Announcer, Subject } from './announcer.ts'
import type { Courier } from './courier.ts'
import type { ExhaustedDeliveries } from './exhausted-deliveries.ts'

type Deps = {
  announcer: Announcer
  courier: Pick<Courier, 'start' | 'add'>
  deliveries: Pick<DeliveryStore, 'insert' | 'list' | 'reopen' | 'findPending'>
  exhausted: Pick<ExhaustedDeliveries, 'load' | 'delete'>
  clock: Clock
  log: Log
  /** Called for every event, also for those without a subscriber. */
  onAnnounced: (announcement: Announcement) => void
}

const reported = 100

export class Lifecycle {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Takes up the deliveries of the previous process. Called when the routes answer. */
  async start(): Promise<void> {
    await Promise.all([this.#deps.courier.start(), this.#deps.exhausted.load()])
  }

  /** The caller stores the deliveries together with the change that caused the event, then calls stored(). */
  prepare(subject: Readonly<Subject>, event: LifecycleEvent, extras?: EventExtras): Announcement {
    return this.#deps.announcer.prepare(subject, event, extras)
  }

  stored(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      this.#deps.onAnnounced(announcement)
      this.#deps.courier.add(announcement.deliveries)
    }
  }

  /** For events without a change to store. Never rejects: an event that was not stored is logged. */
  async announce(subject: Readonly<Subject>, event: LifecycleEvent, extras?: EventExtras): Promise<Announcement> {
    const { deliveries, log } = this.#deps
    const announcement = this.prepare(subject, event, extras)
    try {
      // The answer to the first write may have been lost. The second one stores nothing twice.
      const store = () => deliveries.insert(announcement.deliveries)
      await store().catch(store)
      this.stored([announcement])
    } catch (err) {
      log.error({ err, instance: subject.name, event }, 'a lifecycle event could not be stored')
    }
    return announcement
  }

  /** The newest deliveries of an instance. */
  report(instance: InstanceName): Promise<DeliveryReport[]> {
    return this.#deps.deliveries.list(instance, reported)
  }

  /** Sends a delivery that has ended once more, with the body and id it had. */
  async redeliver(instance: InstanceName, id: string): Promise<void> {
    const { deliveries, courier, exhausted, clock } = this.#deps
    const delivery = await deliveries.reopen(instance, id, clock.now())
    if (delivery) {
      exhausted.delete(id)
      courier.add([delivery])
      return
    }
    const pending = await deliveries.findPending(instance, id)
    if (!pending) {
      throw new BridgeError('SERVICE_DELIVERY_NOT_FOUND', `this instance has no delivery ${JSON.stringify(id)}`)
    }
    // The courier does not know a delivery whose reopening was stored but not answered.
    courier.add([pending])
    throw new BridgeError('SERVICE_DELIVERY_PENDING', 'this delivery is still on its way')
  }
}
