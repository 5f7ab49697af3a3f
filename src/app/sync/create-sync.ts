// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createAvatars } from './create-avatars.ts'
import type { AvatarSet } from './create-avatars.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  /** Null while pictures are switched off. */
  avatars: AvatarSet | null
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
}

export function createSync(parts: SyncParts): SyncSet {
  const avatars = createAvatars(parts)
  return {
    avatars,
    reception: {
      onReceipts: () => undefined,
      onTyping: () => undefined,
      onPictureChanged: (instance, change) => avatars?.avatars.changed(instance, change),
    },
    perInstance: avatars ? [avatars.avatars] : [],
    workers: [],
  }
}
