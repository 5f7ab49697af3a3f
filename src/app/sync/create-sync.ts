// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createTicks } from './create-ticks.ts'
import { createTyping } from './create-typing.ts'
import type { TypingSet } from './create-typing.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  typing: Pick<TypingSet, 'received' | 'activity' | 'connectionChanged'>
  /** What ends with the application. */
  owned: readonly (AsyncDisposable | Disposable)[]
}

export function createSync(parts: SyncParts): SyncSet {
  const ticks = createTicks(parts, new RealtimeCounts(parts))
  const typing = createTyping(parts)
  return {
    reception: {
      onReceipts: (...receipts) => ticks.intake.accept(...receipts),
      onTyping: typing.noticed,
      onPictureChanged: () => undefined,
    },
    perInstance: [ticks.intake, ticks.worker, ticks.counts, ...typing.perInstance],
    workers: [ticks.ticker],
    typing,
    owned: [ticks.worker, ticks.intake],
  }
}
