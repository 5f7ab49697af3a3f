// Hears from all parts that something changed, and tells the hub what to read. It is created before those parts.

import type { InstanceName } from '../core/ids.ts'
import type { Job } from '../core/jobs/job.ts'
import type { EndedDelivery, LiveChanges } from '../core/live.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { LoggedWarning } from '../lib/log-tap.ts'
import type { LiveHub } from './live-hub.ts'

/** What is told, as JSON. */
export type LiveViews = {
  /** Undefined when there is no such instance. */
  instance: (instance: InstanceName) => object | undefined
  /** When the QR code of the instance was made, and what is told of it; null while there is none. */
  qr: (instance: InstanceName) => { madeAt: number; view: object } | null
  destination: (destination: string) => object
  job: (job: Job) => object
}

export class LiveRelay implements LiveChanges, PerInstance {
  readonly #hub: Pick<LiveHub, 'isCollecting' | 'publish' | 'publishLatest'>
  /** When the QR code that was told last was made. */
  readonly #qrs = new Map<InstanceName, number>()
  #views: LiveViews | undefined

  constructor(hub: Pick<LiveHub, 'isCollecting' | 'publish' | 'publishLatest'>) {
    this.#hub = hub
  }

  connect(views: LiveViews): void {
    this.#views = views
  }

  instanceChanged(instance: InstanceName): void {
    const views = this.#listening()
    if (!views) return
    this.#tellQr(instance, views)
    this.#hub.publishLatest('instance', instance, () => views.instance(instance), instance)
  }

  instanceDeleted(instance: InstanceName): void {
    this.#hub.publish('instance', () => ({ name: instance, deleted: true }), instance)
  }

  destinationChanged(destination: string): void {
    const views = this.#listening()
    if (views) this.#hub.publish('destination', () => views.destination(destination))
  }

  jobChanged(job: Job): void {
    const views = this.#listening()
    if (views) this.#hub.publishLatest('job', job.id, () => views.job(job), job.instance)
  }

  deliveryEnded({ id, instance, event, status, attempts }: EndedDelivery): void {
    this.#hub.publish('delivery', () => ({ id, instance, event, status, attempts }))
  }

  warned({ ts, level, message, instance }: LoggedWarning): void {
    this.#hub.publish('alert', () => ({ ts, level, message, instance }))
  }

  leave(instance: InstanceName): void {
    this.#qrs.delete(instance)
  }

  #listening(): LiveViews | undefined {
    return this.#hub.isCollecting ? this.#views : undefined
  }

  #tellQr(instance: InstanceName, views: LiveViews): void {
    const qr = views.qr(instance)
    if (qr?.madeAt === this.#qrs.get(instance)) return
    if (qr) this.#qrs.set(instance, qr.madeAt)
    else this.#qrs.delete(instance)
    const none = { name: instance, available: false, expires_at: null }
    this.#hub.publish('qr', () => qr?.view ?? none, instance)
  }
}
