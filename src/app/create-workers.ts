// Creates the background work that belongs to no single room: storing counts, destroying old keys, pruning
// deliveries, finishing what deleted instances left, and noticing a clock that was put back.

import { heldRows } from '../core/nodes/duties.ts'
import type { Duties, RowScope } from '../core/nodes/duties.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { PendingLogouts } from '../instances/pending-logouts.ts'
import type { Usage } from '../ledger/usage.ts'
import { ClockWatch } from '../lib/clock-watch.ts'
import { runAll } from '../lib/run-all.ts'
import { firstSweepMs, Ticker } from '../lib/ticker.ts'
import type { Courier } from '../lifecycle/courier.ts'
import type { WhatsappNetwork } from '../network/whatsapp-network.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import type { Base } from './base.ts'

const usageFlushMs = 60_000
const keySweepMs = 86_400_000
const deliverySweepMs = 3_600_000
// How long operators can look up and repeat a delivery that has ended.
const keepDeliveriesMs = 30 * 86_400_000

const clockCheckMs = 5000
const deletedMs = 5000

type Parts = {
  duties: Pick<Duties, 'held'>
  correctFutureTimes: (scope: RowScope) => Promise<void>
  usage: Usage
  instances: Pick<InstanceRegistry, 'dropWorthlessKeys' | 'correctFutureTimes'>
  network: Pick<WhatsappNetwork, 'pruneJournal'>
  deliveries: Pick<DeliveryStore, 'prune'>
  courier: Pick<Courier, 'takeDeleted'>
  pendingLogouts: Pick<PendingLogouts, 'takeDeleted'>
}

export function createWorkers({ clock, log }: Base, parts: Parts): Ticker[] {
  const { usage, instances, network, deliveries, courier, pendingLogouts, duties, correctFutureTimes } = parts
  const correct = async () => {
    await correctFutureTimes(heldRows(duties))
    instances.correctFutureTimes()
  }
  const clockWatch = new ClockWatch({ clock, log, correct })
  const every = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, work, clock, log })
  const sweep = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, firstMs: firstSweepMs, work, clock, log })
  return [
    every('usage-flush', usageFlushMs, () => usage.flush()),
    sweep('key-sweep', keySweepMs, async () => {
      await instances.dropWorthlessKeys()
      await network.pruneJournal()
    }),
    every('deleted-instances', deletedMs, () =>
      runAll([courier, pendingLogouts].map((part) => () => part.takeDeleted())),
    ),
    every('clock-check', clockCheckMs, () => clockWatch.run()),
    sweep('delivery-sweep', deliverySweepMs, () => deliveries.prune(clock.now() - keepDeliveriesMs)),
  ]
}
