// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createTyping } from './create-typing.ts'
import type { TypingSet } from './create-typing.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  typing: Pick<TypingSet, 'received' | 'activity' | 'connectionChanged'>
}

export function createSync(parts: SyncParts): SyncSet {
  const typing = createTyping(parts)
  return {
    reception: {
      onReceipts: () => undefined,
      onTyping: typing.noticed,
      onPictureChanged: () => undefined,
    },
    perInstance: [...typing.perInstance],
    workers: [],
    typing,
  }
}
