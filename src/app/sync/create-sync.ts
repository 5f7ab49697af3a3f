// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import { createNames } from './create-names.ts'
import { createTyping } from './create-typing.ts'
import type { TypingSet } from './create-typing.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  typing: Pick<TypingSet, 'received' | 'activity' | 'connectionChanged'>
  nameReconciliation: NameReconciliation
}

export function createSync(parts: SyncParts): SyncSet {
  const typing = createTyping(parts)
  const names = createNames(parts)
  parts.stack.use(names.sync)
  return {
    reception: {
      onReceipts: () => undefined,
      onTyping: typing.noticed,
      onPictureChanged: () => undefined,
    },
    perInstance: [...typing.perInstance, names.sync],
    workers: [names.worker],
    typing,
    nameReconciliation: names.reconciliation,
  }
}
