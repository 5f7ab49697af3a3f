// Keeps the failures of inbox rows, and the rows that are parked: set aside until a person looks at them.

import { BridgeError } from '../../core/errors.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { InboxRow, InboxStore, ParkedRow } from '../../storage/stores/messages/inbox-store.ts'
import type { InboundMetrics } from './inbound-metrics.ts'

type Deps = {
  inbox: Pick<InboxStore, 'noteFailure' | 'park' | 'parked' | 'parkedIds' | 'retryParked' | 'removeParked'>
  metrics: Pick<InboundMetrics, 'countResult'>
  holdOf: HoldOf
  /** Called when the instance has more or fewer parked rows. */
  onCounted?: ((instance: InstanceName) => void) | undefined
  clock: Clock
  log: Log
}

const maxListed = 500
const pauses = { firstMs: 1000, ceilingMs: 30_000 }

export class ParkedRows implements PerInstance {
  readonly #deps: Deps
  readonly #counts = new Map<InstanceName, number>()
  /** Rows that a request to retry may have made pending. Storage did not answer the request. */
  readonly #maybePending = new Map<InstanceName, readonly RowId[]>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The worker says how many parked rows are stored before it takes up others, and calls `leave` after its last row. */
  begin(instance: InstanceName, stored: number): void {
    this.#counts.set(instance, stored)
  }

  leave(instance: InstanceName): void {
    this.#counts.delete(instance)
    this.#maybePending.delete(instance)
  }

  /** The parked rows of all instances that are live in this process. */
  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  countOf(instance: InstanceName): number {
    return this.#counts.get(instance) ?? 0
  }

  /** Stores why an attempt failed, for the list of parked rows. */
  async noteFailure({ id, instance }: InboxRow, reason: string): Promise<void> {
    await this.#deps.inbox.noteFailure(this.#deps.holdOf(instance), id, reason)
  }

  /** False when the signal aborted first: the row is still pending then. */
  async park(
    { id, instance, kind }: Pick<InboxRow, 'id' | 'instance' | 'kind'>,
    reason: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { inbox, holdOf, clock, log, metrics } = this.#deps
    const onFailure = (err: unknown) => {
      log.error({ err, instance }, 'a message could not be parked yet')
    }
    const parked = await retryUntil({ clock, signal, pauses, onFailure }, () =>
      inbox.park(holdOf(instance), id, reason),
    )
    if (!parked) return false
    this.#add(instance, 1)
    metrics.countResult(instance, kind, 'ds_error')
    log.error({ instance, id, kind, reason }, 'a message was parked: see parked')
    return true
  }

  /** The oldest 500. */
  list(instance: InstanceName): Promise<ParkedRow[]> {
    return this.#deps.inbox.parked(instance, maxListed)
  }

  /**
   * Makes every parked row of the instance pending again. Returns the ids of the rows, also of a request before that failed.
   * The worker calls it for one request after the other.
   */
  async unpark(instance: InstanceName): Promise<RowId[]> {
    const { inbox, holdOf } = this.#deps
    const parkedIds = await inbox.parkedIds(instance)
    const earlier = this.#maybePending.get(instance) ?? []
    this.#maybePending.set(instance, [...new Set([...earlier, ...parkedIds])])
    const changed = await inbox.retryParked(holdOf(instance))
    // An operator may have removed some of the earlier rows meanwhile.
    const still = new Set(this.#maybePending.get(instance))
    this.#maybePending.delete(instance)
    const ids = [...new Set([...earlier.filter((id) => still.has(id)), ...changed])].sort()
    this.#add(instance, -ids.length)
    return ids
  }

  async remove(instance: InstanceName, id: RowId): Promise<void> {
    if (!(await this.#deps.inbox.removeParked(this.#deps.holdOf(instance), id))) {
      throw new BridgeError('SERVICE_PARKED_NOT_FOUND', `${JSON.stringify(instance)} has no parked message of that id`)
    }
    const maybePending = this.#maybePending.get(instance)
    if (maybePending) {
      this.#maybePending.set(
        instance,
        maybePending.filter((each) => each !== id),
      )
    }
    this.#add(instance, -1)
  }

  #add(instance: InstanceName, more: number): void {
    this.#counts.set(instance, Math.max(0, this.countOf(instance) + more))
    this.#deps.onCounted?.(instance)
  }
}
