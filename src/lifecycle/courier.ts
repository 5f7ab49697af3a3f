// Delivers events to their subscribers: each has a queue, so that a dead server delays no other subscriber.
//
// waiting  → due when its time has come
// due      → in flight when its subscriber has fewer than 2, its host fewer than 16 and all together fewer than 64; nodes share
//            the limits of a subscriber and of a host
// in flight → ended, or waiting for the next attempt, as soon as the result is stored

import type { Delivery, DeliveryResult } from '../core/lifecycle/delivery.ts'
import type { InstanceName } from '../core/ids.ts'
import { shareOf } from '../core/nodes/duties.ts'
import type { Duties } from '../core/nodes/duties.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import { nextStep } from './retry-schedule.ts'
import type { Attempt } from './retry-schedule.ts'

type Queue = { due: Delivery[]; inFlight: number; host: string }

type Deps = {
  deliveries: Pick<DeliveryStore, 'pending' | 'pendingOf' | 'pendingOfDeleted' | 'record'>
  /** Makes one attempt; never rejects. */
  deliver: (delivery: Delivery, signal: AbortSignal) => Promise<Attempt>
  duties: Pick<Duties, 'held' | 'isFirst' | 'sharers'>
  clock: Clock
  random: () => number
  log: Log
  /** Called once when a delivery has ended. */
  onEnded: (delivery: Delivery, result: DeliveryResult) => void
}

const perSubscriber = 2
/** Many instances may each have a URL at the same dead server. */
const perHost = 16
const inAll = 64
const pendingPerSubscriber = 1000
const shutdownDrainMs = 5000
/** How long to wait before a result is stored again that storage refused. */
const recordAgainMs = 5000

export class Courier implements PerInstance {
  readonly #deps: Deps
  readonly #queues = new Map<string, Queue>()
  /** How many attempts are in flight, by host. */
  readonly #hosts = new Map<string, number>()
  /** How to cancel the wait for the next attempt, by id. */
  readonly #waiting = new Map<string, () => void>()
  readonly #running = new Map<string, Promise<void>>()
  /** Everything that has not ended, by instance and subscriber, oldest first. */
  readonly #open = new Map<string, Map<string, Delivery>>()
  /** The deleted instances whose deliveries this node has taken up. */
  readonly #deleted = new Set<InstanceName>()
  readonly #abort = new AbortController()
  /** The instances of this node. */
  readonly #taken = new Set<InstanceName>()
  #isStarted = false
  #stopped = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get pending(): number {
    let count = 0
    for (const group of this.#open.values()) count += group.size
    return count
  }

  /**
   * Takes up every delivery that is stored and has not ended, with one read. Called when the routes answer, because a
   * subscriber may react to an event with a request.
   */
  async start(): Promise<void> {
    const { deliveries, duties } = this.#deps
    this.#isStarted = true
    // Not those that this node serves: an instance is served when every part has taken it.
    const scope = duties.held() === 'all' ? 'all' : { held: [...this.#taken], withDeleted: false }
    this.add(await deliveries.pending(scope))
  }

  /** An instance that is taken before the start needs no read of its own. */
  async take(instance: InstanceName): Promise<void> {
    this.#taken.add(instance)
    this.#deleted.delete(instance)
    if (this.#isStarted) this.add(await this.#deps.deliveries.pendingOf(instance))
  }

  /**
   * Takes up the deliveries of deleted instances: their subscribers still receive the events before the deletion. The first node
   * does that; a node that is not the first any more drops them.
   */
  async takeDeleted(): Promise<void> {
    const { deliveries, duties } = this.#deps
    if (!duties.isFirst()) for (const instance of this.#deleted) this.leave(instance)
    const found = duties.isFirst() ? await deliveries.pendingOfDeleted() : []
    this.#deleted.clear()
    // An instance of the same name may have been created since.
    const deleted = found.filter(({ instance }) => !this.#taken.has(instance))
    for (const { instance } of deleted) this.#deleted.add(instance)
    this.add(deleted)
  }

  /** Drops the deliveries that wait. An attempt in flight ends by itself; its result is stored. */
  leave(instance: InstanceName): void {
    this.#taken.delete(instance)
    for (const [key, group] of this.#open) {
      if (!key.startsWith(`${instance} `)) continue
      for (const delivery of group.values()) this.#cancel(delivery)
      this.#open.delete(key)
    }
  }

  /** Deliveries that are stored; one that is open already is left as it is. */
  add(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      if (this.#isOpen(delivery)) continue
      this.#makeRoom(delivery)
      this.#groupOf(delivery).set(delivery.id, delivery)
      // The result of an attempt in flight decides when the next one is.
      if (!this.#running.has(delivery.id)) this.#await(delivery)
    }
  }

  /** Resolves when none of these deliveries is due or in flight any more. */
  async settled(ids: ReadonlySet<string>): Promise<void> {
    const isOpen = () =>
      [...this.#running.keys()].some((id) => ids.has(id)) ||
      [...this.#queues.values()].some(({ due }) => due.some(({ id }) => ids.has(id)))
    while (isOpen() && this.#running.size > 0) await Promise.race(this.#running.values())
  }

  /** Attempts in flight may end within 5 s; the next process takes up what waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#queues.clear()
    const cancel = this.#deps.clock.after(shutdownDrainMs, () => {
      this.#abort.abort()
    })
    await Promise.all(this.#running.values())
    cancel()
  }

  #await(delivery: Delivery): void {
    if (this.#stopped) return
    const ms = delivery.nextAt - this.#deps.clock.now()
    if (ms <= 0) {
      this.#due(delivery)
      return
    }
    const cancel = this.#deps.clock.after(ms, () => {
      this.#waiting.delete(delivery.id)
      this.#due(delivery)
    })
    this.#waiting.set(delivery.id, cancel)
  }

  #due(delivery: Delivery): void {
    const { url } = delivery
    const queue = getOrCreate(this.#queues, url, () => ({ due: [], inFlight: 0, host: new URL(url).host }))
    queue.due.push(delivery)
    this.#pump(url, queue)
  }

  #pump(url: string, queue: Queue): void {
    while (this.#hasRoom(queue)) {
      const delivery = queue.due.shift()
      if (!delivery) break
      this.#count(queue, 1)
      this.#running.set(
        delivery.id,
        this.#attempt(delivery).finally(() => {
          this.#count(queue, -1)
          this.#running.delete(delivery.id)
          this.#pump(url, queue)
          for (const [other, waiting] of this.#queues) if (waiting !== queue) this.#pump(other, waiting)
        }),
      )
    }
    if (queue.due.length === 0 && queue.inFlight === 0) this.#queues.delete(url)
  }

  #hasRoom({ inFlight, host }: Queue): boolean {
    const { duties } = this.#deps
    const atHost = this.#hosts.get(host) ?? 0
    const isFree = inFlight < shareOf(perSubscriber, duties) && atHost < shareOf(perHost, duties)
    return !this.#stopped && isFree && this.#running.size < inAll
  }

  #count(queue: Queue, change: 1 | -1): void {
    queue.inFlight += change
    const atHost = (this.#hosts.get(queue.host) ?? 0) + change
    if (atHost === 0) this.#hosts.delete(queue.host)
    else this.#hosts.set(queue.host, atHost)
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { clock, random } = this.#deps
    const isLate = delivery.expiresAt !== null && clock.now() > delivery.expiresAt
    const attempt = isLate
      ? { code: null, error: 'it was too late to tell', retryAfter: null }
      : await this.#deps.deliver(delivery, this.#abort.signal)
    // The process ends: whether the delivery arrived is unknown, and the next process repeats it under the same id.
    if (this.#abort.signal.aborted) return
    await this.#settle(delivery, nextStep(delivery, attempt, { now: clock.now(), random }))
  }

  async #settle(delivery: Delivery, result: DeliveryResult): Promise<void> {
    const { deliveries, clock, log, onEnded } = this.#deps
    try {
      await deliveries.record(delivery.id, result, clock.now())
    } catch (err) {
      log.error({ err, instance: delivery.instance, event: delivery.event }, 'the result of a delivery was not stored')
      // The delivery is not repeated because of that; only its result is stored later.
      if (!this.#stopped) clock.after(recordAgainMs, () => void this.#settle(delivery, result))
      return
    }
    const next = { ...delivery, attempts: result.attempts, nextAt: result.nextAt }
    if (result.status === 'pending') {
      if (this.#isOpen(delivery)) this.#await(next)
    } else {
      this.#forget(delivery)
      onEnded(delivery, result)
    }
    const { id, instance, event, url } = delivery
    const { status, attempts, code, error } = result
    const line = { instance, event, to: new URL(url).host, status, attempts, code, error }
    // An event that expires, such as a QR code, is dropped by design.
    const isLost = status === 'exhausted' || (status === 'dropped' && delivery.expiresAt === null)
    if (isLost) log.warn({ ...line, id }, 'a lifecycle event was not delivered and is not tried again')
    else log.info(line, 'lifecycle delivery')
  }

  #isOpen({ instance, url, id }: Delivery): boolean {
    return this.#open.get(`${instance} ${url}`)?.has(id) ?? false
  }

  #groupOf({ instance, url }: Delivery): Map<string, Delivery> {
    return getOrCreate(this.#open, `${instance} ${url}`, () => new Map<string, Delivery>())
  }

  #forget(delivery: Delivery): void {
    const group = this.#groupOf(delivery)
    group.delete(delivery.id)
    if (group.size === 0) this.#open.delete(`${delivery.instance} ${delivery.url}`)
  }

  /** A newer QR code replaces the one before; the oldest of too many for one subscriber is dropped. */
  #makeRoom(delivery: Delivery): void {
    const group = this.#groupOf(delivery)
    const isIdle = ({ id }: Delivery) => !this.#running.has(id)
    if (delivery.event === 'qr_generated') {
      const codes = [...group.values()].filter((other) => other.event === 'qr_generated' && isIdle(other))
      for (const code of codes) this.#drop(code, 'a newer code took its place')
    }
    if (group.size < pendingPerSubscriber) return
    const oldest = group.values().find(isIdle)
    if (oldest) this.#drop(oldest, 'too many were waiting for this subscriber')
  }

  #drop(delivery: Delivery, error: string): void {
    this.#forget(delivery)
    this.#cancel(delivery)
    const { attempts, nextAt } = delivery
    void this.#settle(delivery, { status: 'dropped', attempts, nextAt, code: null, error })
  }

  /** No attempt follows; one in flight goes on. */
  #cancel({ id, url }: Delivery): void {
    this.#waiting.get(id)?.()
    this.#waiting.delete(id)
    const queue = this.#queues.get(url)
    if (queue) queue.due = queue.due.filter((other) => other.id !== id)
  }
}
