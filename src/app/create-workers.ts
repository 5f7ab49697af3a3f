// Creates the background work that belongs to no single room: storing counts, destroying old keys, pruning
// deliveries, finishing what deleted instances left, and noticing a clock that was put back.

import { heldRows } from '../core/nodes/duties.ts'
import type { Duties, RowScope } from '../core/nodes/duties.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Usage } from '../ledger/usage.ts'
import { ClockWatch } from '../lib/clock-watch.ts'
import { SteadyClock } from '../lib/steady-clock.ts'
import { firstSweepMs, Ticker } from '../lib/ticker.ts'
import type { WhatsappNetwork } from '../network/whatsapp-network.ts'
import type { Membership } from '../nodes/membership/membership.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import type { Base } from './base.ts'
import type { DeletedInstances } from './nodes/deleted-instances.ts'

const usageFlushMs = 60_000
// Any node that is no cell answers how much all of them have counted.
const sharedUsageFlushMs = 5000
const keySweepMs = 86_400_000
const deliverySweepMs = 3_600_000
// How long operators can look up and repeat a delivery that has ended.
const keepDeliveriesMs = 30 * 86_400_000

const clockCheckMs = 5000
const deletedMs = 5000

type Parts = {
  duties: Pick<Duties, 'held'>
  /** Null on SQLite. */
  node: { membership: Pick<Membership, 'hasServingPeers'> } | null
  correctFutureTimes: (scope: RowScope) => Promise<void>
  usage: Usage
  instances: Pick<InstanceRegistry, 'dropWorthlessKeys' | 'correctFutureTimes'>
  network: Pick<WhatsappNetwork, 'pruneJournal'>
  deliveries: Pick<DeliveryStore, 'prune'>
  deleted: Pick<DeletedInstances, 'look'>
}

export function createWorkers({ clock, log }: Pick<Base, 'clock' | 'log'>, parts: Parts): Ticker[] {
  const { usage, instances, network, deliveries, deleted, duties, node, correctFutureTimes } = parts
  const correct = async () => {
    await correctFutureTimes(heldRows(duties))
    instances.correctFutureTimes()
  }
  const clockWatch = new ClockWatch({ clock: new SteadyClock(clock), log, correct })
  const every = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, work, clock, log })
  const sweep = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, firstMs: firstSweepMs, work, clock, log })
  return [
    new Ticker({
      ...{ name: 'usage-flush', clock, log, work: () => usage.flush() },
      everyMs: () => (node?.membership.hasServingPeers ? sharedUsageFlushMs : usageFlushMs),
    }),
    sweep('key-sweep', keySweepMs, async () => {
      await instances.dropWorthlessKeys()
      await network.pruneJournal()
    }),
    every('deleted-instances', deletedMs, () => deleted.look()),
    every('clock-check', clockCheckMs, () => clockWatch.run()),
    sweep('delivery-sweep', deliverySweepMs, () => deliveries.prune(clock.now() - keepDeliveriesMs)),
  ]
}
