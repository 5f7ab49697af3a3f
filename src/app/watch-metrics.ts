// Connects the metrics with the parts that they read at every scrape.

import { dirname, resolve } from 'node:path'
import type { InstanceName } from '../core/ids.ts'
import type { BanRisk } from '../guard/ban-risk.ts'
import { systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { LastReading } from '../lib/last-reading.ts'
import type { Ticker } from '../lib/ticker.ts'
import { shownOwnerName } from '../nodes/owner-name.ts'
import { thisMachine } from '../setup/checks/machine.ts'
import type { Machine } from '../setup/checks/machine.ts'
import { QueueAgeStore } from '../storage/stores/ledger/queue-age-store.ts'
import type { OldestTimes } from '../storage/stores/ledger/queue-age-store.ts'
import type { Base } from './base.ts'
import type { Rooms } from './create-rooms.ts'

/** GET /metrics is open and has no rate limit: strangers cause one query a second at most, and wait no longer than this. */
const reads = { freshMs: 1000, deadlineMs: 2000 }

export function watchMetrics(
  base: Base,
  rooms: Rooms,
  workers: readonly Ticker[],
  machine: Machine = thisMachine,
): void {
  const { storage, accounts, outbound } = rooms
  const { gauges } = storage.metrics
  const { ownership, probe } = storage
  gauges.watchInstances(() => accounts.instances.counts())
  gauges.watchNode(shownOwnerName(base.node.name), () => accounts.instances.counts())
  gauges.watchCluster(() => clusterOf(rooms, shownOwnerName(base.node.name)))
  gauges.watchStates(() => accounts.instances.records())
  gauges.watchNetworkVersion(() => accounts.network.version.state)
  gauges.watchBanRisk(() => scoresOf(outbound.banRisk))
  gauges.watchWorkers(() => workers)
  gauges.watchOwner(() => ownership.state === 'held')
  gauges.watchDatabase(() => probe.state)
  const ages = new QueueAgeStore(storage.database)
  const isOwner = () => ownership.serves
  gauges.watchAges({
    received: createAges({ read: () => ages.received(), isOwner, clock: base.clock }),
    outgoing: createAges({ read: () => ages.outgoing(), isOwner, clock: base.clock }),
  })
  watchDisk(base, rooms, machine)
}

function clusterOf({ storage, nodes }: Rooms, self: string) {
  const shown = nodes.shown()
  return {
    free: storage.node?.membership.free ?? 0,
    settingsDiffer: shown?.nodes.some(({ name, settingsDiffer }) => name === self && settingsDiffer) ?? false,
    isSetBack: shown !== undefined && shown.setBackAt !== null,
  }
}

function scoresOf(banRisk: Pick<BanRisk, 'instances' | 'snapshot'>): Map<InstanceName, number> {
  return new Map(banRisk.instances().map((instance) => [instance, banRisk.snapshot(instance).score]))
}

type AgeParts = { read: () => Promise<OldestTimes>; isOwner: () => boolean; clock: Clock }

/**
 * In seconds. Only the owner tells them, so that a standby does not tell them a second time. While the database does not
 * answer, the messages of the last reading get older: no message can leave its queue without the database.
 */
function createAges({ read, isOwner, clock }: AgeParts): () => Promise<Map<InstanceName, number>> {
  // Real time even under the clock of a test: the database takes real time.
  const oldest = new LastReading({ read, clock: systemClock, ...reads })
  return async () => {
    const times = isOwner() ? await oldest.find() : undefined
    const now = clock.now()
    return new Map([...(times ?? [])].map(([instance, since]) => [instance, Math.max(0, now - since) / 1000]))
  }
}

/** The disk of PostgreSQL is not ours to read. */
function watchDisk({ config }: Base, { storage }: Rooms, machine: Machine): void {
  const { database } = config.storage
  if (database.engine !== 'sqlite') return
  const directory = dirname(resolve(database.path))
  // The share of a disk that cannot be read any more is not known. The last one would hide that the disk is gone.
  const read = () => machine.freeShare(directory).catch(() => undefined)
  const share = new LastReading({ read, clock: systemClock, ...reads })
  storage.metrics.gauges.watchDisk(() => share.find())
}
