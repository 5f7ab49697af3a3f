// Creates the parts that carry receipts to the helpdesk.

import { markSeenByOwner } from '../../bridge/sync/ticks/own-reads.ts'
import { ReceiptIntake } from '../../bridge/sync/ticks/receipt-intake.ts'
import { TickCounts } from '../../bridge/sync/ticks/tick-counts.ts'
import { TickSetter } from '../../bridge/sync/ticks/tick-setter.ts'
import { TickWorker } from '../../bridge/sync/ticks/tick-worker.ts'
import type { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import { Ticker } from '../../lib/ticker.ts'
import { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import { TickStore } from '../../storage/stores/messages/tick-store.ts'
import type { SyncParts } from './sync-parts.ts'

const tickMs = 5000

export function createTicks(parts: SyncParts, realtimeCounts: RealtimeCounts) {
  const { config, clock, log, database, holds, duties, instances, metrics, people, ownChanges, targetOf, traces } =
    parts
  const store = new TickStore(database, holds.holdOf)
  const counts = new TickCounts({
    counts: realtimeCounts,
    onFailed: (instance) => {
      const owner_tag = instances.find(instance)?.record.ownerTag ?? ''
      metrics.dispatchErrors.inc({ direction: 'in', instance, kind: 'status', owner_tag })
    },
    startedAt: clock.now(),
  })
  const setter = new TickSetter({ store, targetOf, changes: ownChanges, counts, traces, clock, log })
  const worker = new TickWorker({ store, setter, duties, clock, log, start: () => void ticker.tick() })
  const ticker = new Ticker({ name: 'ticks', everyMs: tickMs, work: () => worker.run(), clock, log })
  const intake = new ReceiptIntake({
    settings: config.sync,
    store,
    sent: new SentMessageStore(database, holds.holdOf),
    people,
    counts,
    markSeen: (read) => markSeenByOwner({ store, targetOf, log }, read),
    onReported: () => {
      worker.wake()
    },
    clock,
    log,
  })
  return { intake, worker, counts, ticker }
}
