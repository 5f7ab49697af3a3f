// Makes sure that one process at a time owns the accounts, by a lease in the database that it renews.
//
// standby   → held when the lease is ours; gives up after the database has named a living owner for the standby time
// held      → uncertain when no renewal succeeded until shortly before the lease ends (the database is away)
// uncertain → held when a renewal succeeds after all: no other process took over meanwhile
// held, uncertain → lost when another process has taken the lease: everything must close
// any       → released on disposal, so that the next process need not wait

import type { HoldOf, Holds, NodeHold } from '../core/nodes/hold.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { LeaseStore } from '../storage/stores/lease-store.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { LeaseWatch } from '../nodes/lease-watch.ts'
import { shownOwnerName } from '../nodes/owner-name.ts'
import { ownedBy, waitAsStandby } from '../nodes/standby.ts'
import type { StandbyAnswer } from '../nodes/standby.ts'

export type OwnershipState = 'standby' | 'held' | 'uncertain' | 'lost' | 'released'

const leaseMs = 5000
const renewEveryMs = 1000
const safetyMs = 500

type Deps = {
  /** The name of this process, which no other process has. */
  owner: string
  /** True only if the process of this name is certainly dead. */
  isDead: (owner: string) => boolean
  leases: Pick<LeaseStore, 'acquire' | 'renew' | 'release' | 'holder'>
  clock: Clock
  log: Log
  onLost: (reason: Error) => void
}

export class Ownership {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  readonly #watch: LeaseWatch
  #isRefused = false
  #epoch: number | undefined
  #deadline = 0
  #lost = false
  #acquiring: Promise<void> | undefined
  #renewing: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    const { owner, isDead, clock } = deps
    // A lease under our own name was granted before, and the answer was lost.
    this.#watch = new LeaseWatch({ isDead: (other) => other === owner || isDead(other), clock, leaseMs })
  }

  get state(): OwnershipState {
    if (this.#stop.signal.aborted) return 'released'
    if (this.#epoch === undefined) return 'standby'
    if (this.#lost) return 'lost'
    return this.#deps.clock.monotonic() < this.#deadline ? 'held' : 'uncertain'
  }

  /** Whether this process answers requests. It does while uncertain, too: only work that needs the lease stops. */
  get serves(): boolean {
    return this.state === 'held' || this.state === 'uncertain'
  }

  /** What every guarded write carries. */
  readonly nodeHold = (): NodeHold => {
    if (this.#epoch === undefined) throw new Error('this process does not own the accounts yet')
    return { node: this.#deps.owner, epoch: this.#epoch }
  }

  /** The lease is the right to every instance. */
  readonly holdOf: HoldOf = (instance) => ({ instance, ...this.nodeHold() })

  get holds(): Holds {
    return { holdOf: this.holdOf, nodeHold: this.nodeHold }
  }

  /** Whether the database has named another owner. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Whether the owner before did not give the lease back and may still run. It may hold the port. */
  get predecessorMayRun(): boolean {
    return this.#watch.ownerMayRun
  }

  /** Resolves when this process owns the accounts; rejects when another living process does for the standby time. */
  acquire(): Promise<void> {
    this.#acquiring = this.#acquireInTime()
    return this.#acquiring
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    // The lease may still be granted, and is released then.
    await this.#acquiring?.catch(ignoreRejection)
    await this.#renewing
    if (this.#epoch === undefined || this.#lost) return
    await this.#deps.leases.release(this.#deps.owner, this.#epoch)
  }

  async #acquireInTime(): Promise<void> {
    const { clock, log } = this.#deps
    this.#epoch = await waitAsStandby({
      ask: () => this.#tryAcquire(),
      everyMs: renewEveryMs,
      onFailure: (err) => this.#noteFailure(err),
      clock,
      log,
      signal: this.#stop.signal,
    })
    if (this.#stop.signal.aborted) throw new Error('stopped while waiting for the lease')
    this.#renewing = this.#renewUntilStopped()
  }

  async #tryAcquire(): Promise<StandbyAnswer<number>> {
    const { leases, owner, clock } = this.#deps
    const asked = clock.monotonic()
    const holder = await leases.holder()
    const epoch = await leases.acquire(owner, leaseMs, this.#watch.look(holder))
    if (epoch === undefined) {
      this.#isRefused ||= holder !== undefined
      return { refusedBy: holder && shownOwnerName(holder.owner) }
    }
    this.#deadline = asked + leaseMs - safetyMs
    return { granted: epoch }
  }

  async #noteFailure(err: unknown): Promise<void> {
    // A stopped process keeps its lock on the file of SQLite. The operator must know which one.
    const holder = (await this.#holderName()) ?? 'no process'
    this.#deps.log.warn({ err, holder }, 'the lease could not be asked for')
  }

  async #renewUntilStopped(): Promise<void> {
    const { clock, log } = this.#deps
    for (;;) {
      await sleep(clock, renewEveryMs, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      // Measured before the request: the database may have answered long before the answer arrives.
      const asked = clock.monotonic()
      try {
        if (!(await this.#renew())) return
        this.#deadline = asked + leaseMs - safetyMs
      } catch (err) {
        log.warn({ err, state: this.state }, 'the lease could not be renewed')
      }
    }
  }

  async #renew(): Promise<boolean> {
    const { leases, owner, onLost } = this.#deps
    if (await leases.renew(owner, this.nodeHold().epoch, leaseMs)) return true
    this.#lost = true
    onLost(lossTo(await this.#holderName()))
    return false
  }

  /** Undefined when the lease is not in the database. */
  async #holderName(): Promise<string | undefined> {
    try {
      const holder = await this.#deps.leases.holder()
      return holder && shownOwnerName(holder.owner)
    } catch (err) {
      this.#deps.log.debug({ err }, 'the holder of the lease could not be read')
      return 'another process'
    }
  }
}

function lossTo(owner: string | undefined): Error {
  if (owner !== undefined) return new Error(ownedBy(owner))
  return new Error(
    'the lease is no longer in the database: the database was restored or emptied while this process ran',
  )
}
