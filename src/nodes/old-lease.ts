// Ends the lease of builds without nodes, so that nodes can share the database.
//
// A process of such a build owns all accounts while it renews the lease. The first node waits for it as a standby does, and
// then takes the lease for good. Every later node finds it taken for good and goes on at once.

import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { nodesOwner } from '../storage/stores/lease-store.ts'
import type { LeaseStore } from '../storage/stores/lease-store.ts'
import { LeaseWatch } from './lease-watch.ts'
import { shownOwnerName } from './owner-name.ts'
import { waitAsStandby } from './standby.ts'
import type { StandbyAnswer } from './standby.ts'

type Deps = {
  leases: Pick<LeaseStore, 'holder' | 'retire'>
  /** True only if the process of this name is certainly dead. */
  isDead: (owner: string) => boolean
  clock: Clock
  log: Log
  /** Ends the wait. */
  signal: AbortSignal
}

/** `ownerMayRun`: the old owner did not give the lease back and may still run. It may hold the port. */
export type EndedLease = { epoch: number; ownerMayRun: boolean }

/** How long a lease of an old owner lasts. */
const leaseMs = 5000
const askEveryMs = 1000

/** Resolves with the last epoch of the lease; rejects when an old owner lives for the standby time. */
export async function endOldLease({ leases, isDead, clock, log, signal }: Deps): Promise<EndedLease> {
  const watch = new LeaseWatch({ isDead, clock, leaseMs })
  const ask = async (): Promise<StandbyAnswer<EndedLease>> => {
    const holder = await leases.holder()
    const isEnded = holder?.owner === nodesOwner
    const epoch = isEnded ? holder.epoch : await leases.retire(watch.look(holder))
    if (epoch === undefined) return { refusedBy: holder && shownOwnerName(holder.owner) }
    return { granted: { epoch, ownerMayRun: watch.ownerMayRun } }
  }
  const onFailure = (err: unknown) => {
    log.warn({ err }, 'the lease of an earlier build could not be asked for')
  }
  return waitAsStandby({ ask, everyMs: askEveryMs, onFailure, clock, log, signal })
}
