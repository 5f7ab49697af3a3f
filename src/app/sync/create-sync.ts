// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createTicks } from './create-ticks.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  /** What ends with the application. */
  owned: readonly (AsyncDisposable | Disposable)[]
}

export function createSync(parts: SyncParts): SyncSet {
  const counts = new RealtimeCounts(parts)
  const ticks = createTicks(parts, counts)
  return {
    reception: {
      onReceipts: (...receipts) => ticks.intake.accept(...receipts),
      onTyping: () => undefined,
      onPictureChanged: () => undefined,
    },
    perInstance: [ticks.intake, ticks.worker, ticks.counts],
    workers: [ticks.ticker],
    owned: [ticks.worker, ticks.intake],
  }
}
