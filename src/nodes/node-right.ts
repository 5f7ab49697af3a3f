// The right of this process to serve on PostgreSQL: it becomes a node, after the lease of builds without nodes has ended.

import type { Holds } from '../core/nodes/hold.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import { isStorageAway } from '../storage/is-storage-away.ts'
import type { LeaseStore } from '../storage/stores/lease-store.ts'
import type { Membership, MembershipState } from './membership/membership.ts'
import { endOldLease } from './old-lease.ts'
import { standbyMs } from './standby.ts'

type Deps = {
  membership: Membership
  leases: Pick<LeaseStore, 'holder' | 'retire'>
  isDead: (owner: string) => boolean
  /** Prepares what earlier builds and backups left. Called before this process is a node, with the last epoch of the lease. */
  prepare: (epoch: number) => Promise<void>
  clock: Clock
  log: Log
}

const pauses = { firstMs: 250, ceilingMs: 2000 }

/** The words that health knows. */
const shown = {
  ...({ standby: 'standby', active: 'held', draining: 'held', released: 'released' } as const),
  ...({ uncertain: 'uncertain', isolated: 'uncertain' } as const),
} satisfies Record<MembershipState, string>

export class NodeRight {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #hasJoined = false
  #oldOwnerMayRun = false
  #acquiring: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get state(): (typeof shown)[MembershipState] {
    return shown[this.#deps.membership.state]
  }

  /** One that others gave up hands every request to them until it has joined again. */
  get serves(): boolean {
    return this.#hasJoined && this.#deps.membership.state !== 'released'
  }

  get isRefused(): boolean {
    return this.#deps.membership.isRefused
  }

  get predecessorMayRun(): boolean {
    return this.#oldOwnerMayRun || this.#deps.membership.predecessorMayRun
  }

  get holds(): Holds {
    const { membership } = this.#deps
    return { holdOf: membership.holdOf, nodeHold: () => membership.nodeHold }
  }

  acquire(): Promise<void> {
    this.#acquiring = this.#acquire()
    return this.#acquiring
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#deps.membership[Symbol.asyncDispose]()
    await Promise.allSettled([this.#acquiring])
  }

  async #acquire(): Promise<void> {
    const { membership, leases, isDead, clock, log } = this.#deps
    const { signal } = this.#stop
    const { epoch, ownerMayRun } = await endOldLease({ leases, isDead, clock, log, signal })
    this.#oldOwnerMayRun = ownerMayRun
    await this.#prepare(epoch)
    signal.throwIfAborted()
    await membership.join()
    this.#hasJoined = true
  }

  /** While another process prepares the same, its locks may outlast the time that a statement waits for one. */
  async #prepare(epoch: number): Promise<void> {
    const { prepare, clock, log } = this.#deps
    const giveUpAt = clock.monotonic() + standbyMs
    const onFailure = (err: unknown) => {
      if (!isStorageAway(err) || clock.monotonic() >= giveUpAt) throw err
      log.warn({ err }, 'the database could not be prepared for nodes, trying again')
    }
    await retryUntil({ clock, signal: this.#stop.signal, pauses, onFailure }, () => prepare(epoch))
  }
}
