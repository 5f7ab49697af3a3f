// Makes sure that one process at a time owns the accounts, by a lease in the database that it renews.
//
// standby   → held when the lease is ours; gives up after the standby time, naming the holder
// held      → uncertain when no renewal succeeded until shortly before the lease ends (the database is away)
// uncertain → held when a renewal succeeds after all: no other process took over meanwhile
// held, uncertain → lost when another process has taken the lease: everything must close
// any       → released on disposal, so that the next process need not wait

import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { LeaseStore } from '../storage/stores/lease-store.ts'
import { ignoreRejection } from '../lib/ignore.ts'

export type OwnershipState = 'standby' | 'held' | 'uncertain' | 'lost' | 'released'

const leaseMs = 5000
const renewEveryMs = 1000
const safetyMs = 500
const standbyMs = 60_000

type Deps = {
  /** The name of this process, for the operator of another one. */
  owner: string
  leases: Pick<LeaseStore, 'acquire' | 'renew' | 'release' | 'holder'>
  clock: Clock
  log: Log
  onLost: (reason: Error) => void
}

export class Ownership {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #epoch: number | undefined
  #deadline = 0
  #lost = false
  #acquiring: Promise<void> | undefined
  #renewing: Promise<void> | undefined
  #failure: unknown

  constructor(deps: Deps) {
    this.#deps = deps
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
  get epoch(): number {
    if (this.#epoch === undefined) throw new Error('this process does not own the accounts yet')
    return this.#epoch
  }

  /** Resolves when this process owns the accounts; rejects when another one still does after the standby time. */
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
    const giveUpAt = clock.monotonic() + standbyMs
    let told = false
    while (!(await this.#tryAcquire())) {
      if (this.#stop.signal.aborted) break
      if (clock.monotonic() >= giveUpAt) throw await this.#reasonToGiveUp()
      if (!told && this.#failure === undefined) {
        told = true
        log.warn({ holder: await this.#holderName() }, 'another process owns the accounts, waiting')
      }
      await sleep(clock, renewEveryMs, this.#stop.signal)
    }
    if (this.#stop.signal.aborted) throw new Error('stopped while waiting for the lease')
    this.#renewing = this.#renewUntilStopped()
  }

  async #tryAcquire(): Promise<boolean> {
    if (this.#stop.signal.aborted) return false
    const { leases, owner, clock, log } = this.#deps
    const asked = clock.monotonic()
    try {
      this.#epoch = await leases.acquire(owner, leaseMs)
      this.#deadline = asked + leaseMs - safetyMs
      this.#failure = undefined
    } catch (err) {
      this.#failure = err
      log.warn({ err }, 'the lease could not be asked for')
    }
    return this.#epoch !== undefined
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
    if (await leases.renew(owner, this.epoch, leaseMs)) return true
    this.#lost = true
    onLost(await this.#heldByAnother())
    return false
  }

  async #reasonToGiveUp(): Promise<Error> {
    if (this.#failure === undefined) return this.#heldByAnother()
    return new Error('the database did not answer when asked for the lease: see whether it runs', {
      cause: this.#failure,
    })
  }

  async #heldByAnother(): Promise<Error> {
    return new Error(
      `${await this.#holderName()} owns the accounts of this database: stop that process, ` +
        'or give this one a DATABASE_URL of its own',
    )
  }

  async #holderName(): Promise<string> {
    try {
      return (await this.#deps.leases.holder())?.owner ?? 'another process'
    } catch (err) {
      this.#deps.log.debug({ err }, 'the holder of the lease could not be read')
      return 'another process'
    }
  }
}
