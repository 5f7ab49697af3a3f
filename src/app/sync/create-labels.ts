// Creates the parts that bring the labels of WhatsApp and of the helpdesk together.

import { AccountTitles } from '../../bridge/sync/labels/account-titles.ts'
import { HelpdeskLabelWriter } from '../../bridge/sync/labels/helpdesk-label-writer.ts'
import { LabelIntake } from '../../bridge/sync/labels/label-intake.ts'
import { LabelLimit } from '../../bridge/sync/labels/label-limit.ts'
import { LabelLook } from '../../bridge/sync/labels/label-look.ts'
import { LabelWorker } from '../../bridge/sync/labels/label-worker.ts'
import { LabelWrites } from '../../bridge/sync/labels/label-writes.ts'
import { NetworkLabelWriter } from '../../bridge/sync/labels/network-label-writer.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import type { ConversationLabels, LabelReception } from '../../core/sync/labels.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { createRowIds } from '../../lib/row-ids.ts'
import { Ticker } from '../../lib/ticker.ts'
import { LabelAgreementStore } from '../../storage/stores/people/label-agreement-store.ts'
import { LabelStore } from '../../storage/stores/people/label-store.ts'
import type { SyncParts } from './sync-parts.ts'

export type LabelSet = {
  reception: LabelReception
  onLabelled: (labels: ConversationLabels) => Promise<void>
  perInstance: readonly PerInstance[]
  workers: readonly Ticker[]
}

const retryMs = 5000

export function createLabels(parts: SyncParts): LabelSet {
  const { config, clock, log, stack, database, holds, metrics, downstream, people } = parts
  if (!config.sync.labels) return switchedOff
  const { conversations, contexts, sessionOf, targetOf } = parts
  const counts = new RealtimeCounts({ metrics })
  const labels = new LabelStore(database, holds.holdOf)
  const agreements = new LabelAgreementStore(database, holds.holdOf)
  const writes = new LabelWrites({ clock })
  const limit = new LabelLimit({ log })
  const titles = new AccountTitles({ downstream, clock, log })
  const onLimit = limit.reached.bind(limit)
  const network = new NetworkLabelWriter({ labels, onLimit })
  const helpdesk = new HelpdeskLabelWriter({ titles, writes })
  const look = new LabelLook({ targetOf, people, contexts, conversations, network, helpdesk, log })
  const worker = stack.use(new LabelWorker({ agreements, look, sessionOf, counts, clock, log }))
  const wake = worker.wake.bind(worker)
  const newMark = createRowIds(clock)
  const intake = new LabelIntake({ labels, agreements, people, writes, counts, wake, newMark, clock, log })
  conversations.onKnown(({ instance, chatId }) => {
    void intake.chatChanged(instance, chatId)
  })
  people.onMerged((instance, { keep }) => {
    void intake.chatChanged(instance, keep)
  })
  const retry = async () => {
    await intake.retry()
    worker.retry()
  }
  return {
    reception: intake,
    onLabelled: intake.onLabelled.bind(intake),
    perInstance: [worker, intake, limit],
    workers: [new Ticker({ name: 'labels', everyMs: retryMs, work: retry, clock, log })],
  }
}

const switchedOff: LabelSet = {
  reception: { keepsLabels: () => false, onNoLabels: () => undefined, onLabels: () => Promise.resolve() },
  onLabelled: () => Promise.resolve(),
  perInstance: [],
  workers: [],
}
