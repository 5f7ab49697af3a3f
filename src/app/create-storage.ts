// Creates what every other part builds on: the database, the lease on it, the counters and the audit log.

import type { InstanceName } from '../core/ids.ts'
import type { Duties, RowScope } from '../core/nodes/duties.ts'
import type { UsageCounter } from '../core/usage.ts'
import { isDeadOwner } from '../nodes/owner-name.ts'
import { Ownership } from '../instances/ownership.ts'
import { Metrics } from '../ledger/metrics.ts'
import { Usage } from '../ledger/usage.ts'
import { systemClock } from '../lib/clock.ts'
import { openDatabase } from '../storage/database.ts'
import type { Database } from '../storage/database.ts'
import { DatabaseProbe } from '../storage/database-probe.ts'
import { correctFutureTimes } from '../storage/stores/future-times.ts'
import { noteKeys, refuseUnreadableSecrets } from '../storage/stores/key-check.ts'
import { IdClock } from '../storage/stores/newest-ids.ts'
import { LeaseStore } from '../storage/stores/lease-store.ts'
import { RestoredStore } from '../storage/stores/restored-store.ts'
import { takeOverRows, takeOverRowsOfLease } from '../storage/stores/take-over-rows.ts'
import { AuditStore } from '../storage/stores/ledger/audit-store.ts'
import { UsageStore } from '../storage/stores/ledger/usage-store.ts'
import type { Base } from './base.ts'
import { createNode } from './nodes/create-node.ts'
import type { NodeParts } from './nodes/create-node.ts'
import type { ServingRight } from './nodes/serving-right.ts'

type Options = {
  /** Called with the reason when the service cannot go on. */
  onFatal: (reason: Error) => void
  /** Ends the wait for a database that does not answer. */
  stopping: AbortSignal | undefined
  duties: Duties
  /** The file that runs as a cell; undefined where this process can start none. */
  cellProgram: string | undefined
  /** Called when usage is counted. */
  onCounted: (instance: InstanceName, counter: UsageCounter) => void
}

export async function createStorage(base: Base, { onFatal, stopping, duties, cellProgram, onCounted }: Options) {
  const { config, clock, log, build, stack } = base
  const { encryptionKeys, connections, database: location } = config.storage
  const database = stack.use(
    await openDatabase({ location, encryptionKeys, log, onFatal, connections, ...(stopping && { signal: stopping }) }),
  )
  // Real time even under the clock of a test: the database takes real time.
  const probe = stack.use(new DatabaseProbe({ database, clock: systemClock, log }))
  probe.start()
  await refuseUnreadableSecrets(database, encryptionKeys)
  const metrics = new Metrics({ version: build.version })
  const { right, node, takeOver } = createRight(base, { database, onFatal, metrics, cellProgram })
  const usage = new Usage({ store: new UsageStore(database), clock, onCounted })
  stack.defer(() => usage.flush())
  const now = () => (node?.link ? node.membership.databaseNow() : clock.now())
  const idClock = new IdClock({ database, duties, now })
  const { nodeHold } = right.holds
  return {
    database,
    probe,
    /** The right of this process to serve. */
    ownership: right,
    /** Null on SQLite, where one process holds every instance. */
    node,
    /** What every guarded write carries. */
    holds: right.holds,
    /** The time of new ids of rows. */
    idClock,
    takeOverRows: async () => {
      await noteKeys(database, nodeHold(), encryptionKeys)
      await takeOver()
      await idClock.follow()
      // Other nodes go on writing times on their own clocks.
      if ((node?.membership.nodes.length ?? 1) === 1) await correctFutureTimes(database, nodeHold(), clock.now())
    },
    correctFutureTimes: (scope: RowScope) => correctFutureTimes(database, nodeHold(), clock.now(), scope),
    usage,
    metrics,
    audit: new AuditStore(database),
  }
}

type Right = {
  right: ServingRight
  node: NodeParts | null
  /** Prepares what earlier builds and backups left. On PostgreSQL the right does that itself, before this process is a node. */
  takeOver: () => Promise<void>
}

type RightParts = Pick<Options, 'onFatal' | 'cellProgram'> & { database: Database; metrics: Metrics }

function createRight(base: Base, { database, onFatal, metrics, cellProgram }: RightParts): Right {
  const { clock, log, stack } = base
  const prepareRestored = async (store: RestoredStore) => {
    const restored = await store.prepare(clock.now())
    if (restored) log.warn(restored, 'the database comes from a backup: messages that wait in it are not sent again')
  }
  if (database.engine === 'postgres') {
    const prepare = async (leaseEpoch: number) => {
      await takeOverRowsOfLease(database, leaseEpoch)
      await prepareRestored(new RestoredStore(database))
    }
    const node = createNode(base, { database, onFatal, prepare, metrics: metrics.nodes, cellProgram })
    return { right: node.right, node, takeOver: () => Promise.resolve() }
  }
  const ownership = stack.use(
    new Ownership({
      owner: base.node.name,
      isDead: isDeadOwner,
      leases: new LeaseStore(database),
      // Real time even under the clock of a test: the lease runs on the database's clock.
      clock: systemClock,
      log,
      onLost: onFatal,
    }),
  )
  const takeOver = async () => {
    await takeOverRows(database, ownership.nodeHold())
    await prepareRestored(new RestoredStore(database, ownership.nodeHold))
  }
  return { right: ownership, node: null, takeOver }
}
