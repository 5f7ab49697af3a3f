// The right of this process to serve: the lease on SQLite, the membership among the nodes on PostgreSQL.

import type { Holds } from '../../core/nodes/hold.ts'
import type { OwnershipState } from '../../instances/ownership.ts'

export type ServingRight = {
  /** For health and metrics. */
  readonly state: OwnershipState
  /** Whether this process answers requests. */
  readonly serves: boolean
  /** Whether the database has named a process beside which this one may not run. */
  readonly isRefused: boolean
  /** Whether a process before this one did not end properly and may still run. It may hold the port. */
  readonly predecessorMayRun: boolean
  readonly holds: Holds
  /** Resolves when this process may serve. */
  acquire(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
