// Creates the background work that belongs to no single room: storing counts, destroying old keys, pruning deliveries.

import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { Usage } from '../ledger/usage.ts'
import { firstSweepMs, Ticker } from '../lib/ticker.ts'
import type { WhatsappNetwork } from '../network/whatsapp-network.ts'
import type { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import type { Base } from './base.ts'

const usageFlushMs = 60_000
const keySweepMs = 86_400_000
const deliverySweepMs = 3_600_000
// How long operators can look up and repeat a delivery that has ended.
const keepDeliveriesMs = 30 * 86_400_000

type Parts = {
  usage: Usage
  instances: Pick<InstanceRegistry, 'dropWorthlessKeys'>
  network: Pick<WhatsappNetwork, 'pruneJournal'>
  deliveries: Pick<DeliveryStore, 'prune'>
}

export function createWorkers({ clock, log }: Base, { usage, instances, network, deliveries }: Parts): Ticker[] {
  const sweep = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Ticker({ name, everyMs, firstMs: firstSweepMs, work, clock, log })
  return [
    new Ticker({ name: 'usage-flush', everyMs: usageFlushMs, work: () => usage.flush(), clock, log }),
    sweep('key-sweep', keySweepMs, async () => {
      await instances.dropWorthlessKeys()
      await network.pruneJournal()
    }),
    sweep('delivery-sweep', deliverySweepMs, () => deliveries.prune(clock.now() - keepDeliveriesMs)),
  ]
}
