// Creates the parts that carry receipts, typing, pictures, names and labels to the helpdesk.

import type { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import type { NameUpdate } from '../../bridge/sync/names/name-update.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { RealtimeReception } from '../../core/realtime.ts'
import type { Ticker } from '../../lib/ticker.ts'
import { createAvatars } from './create-avatars.ts'
import type { AvatarSet } from './create-avatars.ts'
import { createLabels } from './create-labels.ts'
import type { LabelSet } from './create-labels.ts'
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
  labels: Pick<LabelSet, 'reception' | 'onLabelled'>
}

export function createSync(parts: SyncParts): SyncSet {
  const ticks = createTicks(parts, new RealtimeCounts(parts))
  const typing = createTyping(parts)
  const avatars = createAvatars(parts)
  const names = createNames(parts)
  const labels = createLabels(parts)
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
      ...labels.perInstance,
    ],
    workers: [ticks.ticker, names.worker, ...labels.workers],
    typing,
    nameReconciliation: names.reconciliation,
    nameUpdate: names.update,
    labels,
  }
}
