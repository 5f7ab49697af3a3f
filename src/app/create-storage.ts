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
import { DatabaseProbe } from '../storage/database-probe.ts'
import { correctFutureTimes } from '../storage/stores/future-times.ts'
import { noteKeys, refuseUnreadableSecrets } from '../storage/stores/key-check.ts'
import { IdClock } from '../storage/stores/newest-ids.ts'
import { LeaseStore } from '../storage/stores/lease-store.ts'
import { RestoredStore } from '../storage/stores/restored-store.ts'
import { takeOverRows } from '../storage/stores/take-over-rows.ts'
import { AuditStore } from '../storage/stores/ledger/audit-store.ts'
import { UsageStore } from '../storage/stores/ledger/usage-store.ts'
import type { Base } from './base.ts'
import { newNode } from './nodes/new-node.ts'

type Options = {
  /** Called with the reason when the service cannot go on. */
  onFatal: (reason: Error) => void
  /** Ends the wait for a database that does not answer. */
  stopping: AbortSignal | undefined
  duties: Duties
  /** Called when usage is counted. */
  onCounted: (instance: InstanceName, counter: UsageCounter) => void
}

export async function createStorage(
  { config, clock, log, build, stack }: Base,
  { onFatal, stopping, duties, onCounted }: Options,
) {
  const { encryptionKeys, connections, database: location } = config.storage
  const database = stack.use(
    await openDatabase({ location, encryptionKeys, log, onFatal, connections, ...(stopping && { signal: stopping }) }),
  )
  // Real time even under the clock of a test: the database takes real time.
  const probe = stack.use(new DatabaseProbe({ database, clock: systemClock, log }))
  probe.start()
  await refuseUnreadableSecrets(database, encryptionKeys)
  const ownership = stack.use(
    new Ownership({
      owner: newNode(config, build.version).name,
      isDead: isDeadOwner,
      leases: new LeaseStore(database),
      // Real time even under the clock of a test: the lease runs on the database's clock.
      clock: systemClock,
      log,
      onLost: onFatal,
    }),
  )
  const usage = new Usage({ store: new UsageStore(database), clock, onCounted })
  stack.defer(() => usage.flush())
  const idClock = new IdClock({ database, duties, now: () => clock.now() })
  return {
    database,
    probe,
    ownership,
    /** What every guarded write carries. */
    holds: { holdOf: ownership.holdOf, nodeHold: ownership.nodeHold },
    /** The time of new ids of rows. */
    idClock,
    takeOverRows: async () => {
      await noteKeys(database, ownership.nodeHold(), encryptionKeys)
      await takeOverRows(database, ownership.nodeHold())
      const restored = await new RestoredStore(database, ownership.nodeHold).prepare(clock.now())
      if (restored) log.warn(restored, 'the database comes from a backup: messages that wait in it are not sent again')
      await idClock.follow()
      await correctFutureTimes(database, ownership.nodeHold(), clock.now())
    },
    correctFutureTimes: (scope: RowScope) => correctFutureTimes(database, ownership.nodeHold(), clock.now(), scope),
    usage,
    metrics: new Metrics({ version: build.version }),
    audit: new AuditStore(database),
  }
}
