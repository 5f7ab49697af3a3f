// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import { createNames } from './create-names.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  nameReconciliation: NameReconciliation
}

export function createSync(parts: SyncParts): SyncSet {
  const names = createNames(parts)
  parts.stack.use(names.sync)
  return {
    reception: {
      onReceipts: () => undefined,
      onTyping: () => undefined,
      onPictureChanged: () => undefined,
    },
    perInstance: [names.sync],
    workers: [names.worker],
    nameReconciliation: names.reconciliation,
  }
}
