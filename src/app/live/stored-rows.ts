// What the overview shows of instances that other nodes hold.

import type { InstanceName } from '../../core/ids.ts'
import type { RowDeps } from '../../http/routes/observe/overview-row.ts'
import type { Database } from '../../storage/database.ts'
import { WaitingStore } from '../../storage/stores/live/waiting-store.ts'

/** The ban risk is known only to the node that holds the instance, so it is that of an instance that sends nothing. */
export function createStoredRowsReader(database: Database, banRisk: RowDeps['banRisk']): () => Promise<RowDeps> {
  const store = new WaitingStore(database)
  return async () => {
    const { outbox, inbox, parked, lastMessages } = await store.counts()
    const countIn = (counts: ReadonlyMap<InstanceName, number>) => (name: InstanceName) => counts.get(name) ?? 0
    return {
      lastMessages: { of: (name) => lastMessages.get(name) ?? { inAt: null, outAt: null } },
      outboxPending: countIn(outbox),
      inboxPending: countIn(inbox),
      parked: countIn(parked),
      banRisk,
    }
  }
}
