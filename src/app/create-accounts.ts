// Creates the linked accounts: the network, their registry, and the use cases on them.

import type { InstanceName } from '../core/ids.ts'
import type { LiveChanges } from '../core/live.ts'
import type { PerInstance } from '../core/per-instance.ts'
import type { Reception } from '../core/network/reception.ts'
import type { HistoryReception } from '../core/history/past-events.ts'
import type { RealtimeReception } from '../core/realtime.ts'
import type { Duties } from '../core/nodes/duties.ts'
import { unlessLost } from '../core/nodes/hold.ts'
import type { Holds } from '../core/nodes/hold.ts'
import { InstanceRegistry } from '../instances/instance-registry.ts'
import { Roster } from '../instances/roster/roster.ts'
import { InstanceService } from '../instances/service/instance-service.ts'
import type { Arrivals } from '../instances/service/arrivals.ts'
import type { InstanceMessages } from '../instances/service/instance-removal.ts'
import { PendingLogouts } from '../instances/pending-logouts.ts'
import { Reachability } from '../instances/reachability.ts'
import type { StateListener } from '../instances/state-log.ts'
import type { Clock } from '../lib/clock.ts'
import { runAll } from '../lib/run-all.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { WhatsappNetwork } from '../network/whatsapp-network.ts'
import type { Database } from '../storage/database.ts'
import { ClientVersionStore } from '../storage/stores/accounts/client-version-store.ts'
import { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import { PendingLogoutStore } from '../storage/stores/accounts/pending-logout-store.ts'
import { SessionKeyStore } from '../storage/stores/accounts/session-key-store.ts'
import { JournalStore } from '../storage/stores/messages/journal-store.ts'
import { MessageMapStore } from '../storage/stores/messages/message-map-store.ts'
import type { Base } from './base.ts'
import type { DeletedInstances } from './nodes/deleted-instances.ts'
import type { HistorySet } from './history/create-history.ts'
import { createFindSent } from './find-sent.ts'

// How many connections may be opening at the same time.
const connectsAtOnce = 8
// After the death of another node its instances are to be online within seconds.
const connectsAfterDeath = 32
// How long the network lets one QR code live.
const defaultQrLifetimeMs = 20_000

type Parts = {
  database: Database
  holds: Holds
  duties: Duties
  idClock: Pick<Clock, 'now'>
  lifecycle: Lifecycle
  reception: Reception & RealtimeReception & HistoryReception
  /** Every part that keeps memory per instance, and the listener for changes of instances. */
  events: PerInstance & { onChange(instance: InstanceName): void }
  /** Hears of every change of the state of an instance. */
  onState: StateListener
  qrLifetimeMs?: number | undefined
  /** False only while this node holds every instance. */
  hasPeers: () => boolean
  /** While this holds, no session is opened. */
  isCutOff: () => boolean
  /** Instances of other nodes have come lately. */
  isTakingOver: () => boolean
}

export type AccountSet = {
  /** The instances that this node holds. */
  instances: InstanceRegistry
  /** All instances. */
  roster: Roster
  store: InstanceStore
  network: WhatsappNetwork
  pendingLogouts: PendingLogouts
  reachability: Reachability
}

export function createAccounts({ config, clock, log, stack }: Base, parts: Parts): AccountSet {
  const { database, holds, duties, idClock, lifecycle, reception, events, qrLifetimeMs = defaultQrLifetimeMs } = parts
  const network: WhatsappNetwork = stack.use(
    new WhatsappNetwork({
      keys: new SessionKeyStore(database),
      journal: new JournalStore(database),
      versions: new ClientVersionStore(database, holds.nodeHold),
      reception,
      ...holds,
      duties,
      idClock,
      clock,
      log,
      settings: config.network,
      proxyOf: (instance) => instances.get(instance).record.networkProxy,
      qrLifetimeMs,
      findSent: createFindSent(new MessageMapStore(database)),
      isCutOff: parts.isCutOff,
    }),
  )
  const store = new InstanceStore(database)
  const logouts = new PendingLogoutStore(database)
  const pendingLogouts = stack.use(
    new PendingLogouts({ network, logouts, duties, ...holds, clock, random: Math.random, log }),
  )
  const reachability = new Reachability({ clock, log })
  const instances: InstanceRegistry = stack.use(
    new InstanceRegistry({
      network,
      instances: store,
      pendingLogouts,
      ...holds,
      gate: new Semaphore(() => (parts.isTakingOver() ? connectsAfterDeath : connectsAtOnce)),
      clock,
      random: Math.random,
      log,
      qrLifetimeMs,
      asksHistory: config.history.enabled,
      lifecycle,
      reachability,
      graces: { unreachableMs: config.lifecycle.unreachableGrace, reconnectedMs: config.lifecycle.reconnectedGrace },
      parts: events,
      onState: parts.onState,
      onChange: (instance) => {
        events.onChange(instance)
      },
    }),
  )
  const roster = new Roster({ registry: instances, instances: store, logouts, hasPeers: parts.hasPeers, clock })
  return { instances, roster, store, network, pendingLogouts, reachability }
}

type ServiceParts = {
  accounts: AccountSet
  storage: { holds: Holds }
  inbound: Pick<InstanceMessages, 'undelivered' | 'forget'>
  outbound: Pick<InstanceMessages, 'forget'>
  history: Pick<HistorySet, 'count' | 'forget'>
  deleted: Pick<DeletedInstances, 'deleted'>
  /** How a new instance becomes live here. */
  arrivals: Arrivals
  live: Pick<LiveChanges, 'instanceDeleted'>
  /** Called after the settings of an instance changed. */
  onRoutingChanged: () => void
}

export function createInstanceService({ config, clock }: Base, parts: ServiceParts): InstanceService {
  const { accounts, storage, inbound, outbound, history, deleted, arrivals, live, onRoutingChanged } = parts
  return new InstanceService({
    registry: accounts.instances,
    instances: accounts.store,
    network: accounts.network,
    pendingLogouts: accounts.pendingLogouts,
    ...storage.holds,
    arrivals,
    clock,
    messages: {
      undelivered: (instance) => inbound.undelivered(instance),
      notImported: (instance) => history.count(instance),
      // A new instance with this name would send the messages that are left.
      failLeftovers: (instance) => outbound.forget(instance),
      forget: (instance) =>
        runAll([
          // The rows that this node may not write any more fail on the first node.
          () => unlessLost(outbound.forget(instance)),
          ...[inbound, history].map((messages) => () => messages.forget(instance)),
        ]),
    },
    onDeleted: (name) => {
      accounts.roster.forget(name)
      live.instanceDeleted(name)
      return deleted.deleted()
    },
    onChanged: onRoutingChanged,
    history: config.history,
  })
}
