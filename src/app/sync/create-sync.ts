// Creates the parts that carry receipts, typing, pictures and names to the helpdesk.

import type { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import type { NameUpdate } from '../../bridge/sync/names/name-update.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createAvatars } from './create-avatars.ts'
import type { AvatarSet } from './create-avatars.ts'
import { createNames } from './create-names.ts'
import { createTicks } from './create-ticks.ts'
import { createTyping } from './create-typing.ts'
import type { TypingSet } from './create-typing.ts'
import type { SyncParts } from './sync-parts.ts'

export type SyncSet = {
  /** Hears what the network tells beside messages. */
  reception: RealtimeReception
  /** Null while pictures are switched off. */
  avatars: AvatarSet | null
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
  typing: Pick<TypingSet, 'received' | 'activity' | 'connectionChanged'>
  nameReconciliation: NameReconciliation
  nameUpdate: NameUpdate
}

export function createSync(parts: SyncParts): SyncSet {
  const ticks = createTicks(parts, new RealtimeCounts(parts))
  const typing = createTyping(parts)
  const avatars = createAvatars(parts)
  const names = createNames(parts)
  for (const part of [ticks.worker, ticks.intake, names.sync]) parts.stack.use(part)
  if (avatars) parts.stack.use(avatars.avatars)
  return {
    avatars,
    reception: {
      onReceipts: (...receipts) => ticks.intake.accept(...receipts),
      onTyping: typing.noticed,
      onPictureChanged: (instance, change) => avatars?.avatars.changed(instance, change),
    },
    perInstance: [
      ...[ticks.intake, ticks.worker, ticks.counts],
      ...typing.perInstance,
      ...(avatars ? [avatars.avatars, avatars.resync] : []),
      ...[names.sync, names.reconciliation],
    ],
    workers: [ticks.ticker, names.worker],
    typing,
    nameReconciliation: names.reconciliation,
    nameUpdate: names.update,
  }
}
