// Connects rooms that exist: what accounts receive and tell goes to the parts that listen, and a node gets its place among others.

import type { InstanceName } from '../../core/ids.ts'
import type { Base } from '../base.ts'
import { createLiveViews } from '../live/create-live.ts'
import { createCluster } from '../nodes/create-cluster.ts'
import type { Cluster } from '../nodes/create-cluster.ts'
import type { createJobRooms } from '../jobs/create-job-rooms.ts'
import { listPerInstance } from '../list-per-instance.ts'
import type { createSetupChecks } from '../create-setup-checks.ts'
import type { AccountRooms } from './create-account-rooms.ts'
import type { Foundation } from './create-foundation.ts'
import type { MessageRooms } from './create-message-rooms.ts'
import type { RoomOptions } from './room-options.ts'

type ConnectedRooms = Foundation &
  AccountRooms &
  MessageRooms &
  ReturnType<typeof createJobRooms> & { setup: ReturnType<typeof createSetupChecks> }

/** Returns every part that keeps memory per instance. */
export function connectAccounts(rooms: ConnectedRooms) {
  const { events, live, records, reception, notices, calls, inbound, outbound, sync, history } = rooms
  const { idClock, metrics, usage } = rooms.storage
  const perInstance = listPerInstance({ ...rooms, idClock, metrics, usage, records, live: live.relay })
  reception.connect({
    calls: calls.rejections,
    messages: inbound.reception,
    realtime: sync.reception,
    history: history.reception,
    labels: sync.labels.reception,
    onReceived: sync.typing.received,
  })
  events.connect({
    perInstance,
    onChange: (instance) => {
      outbound.connectionChanged(instance)
      sync.typing.connectionChanged(instance)
      live.relay.instanceChanged(instance)
    },
    onAnnounced: (announcement) => notices?.heard(announcement),
  })
  return perInstance
}

/** Returns what is shown of the stored messages of an instance. */
export function connectLive({ live, records, accounts, inbound, outbound }: ConnectedRooms) {
  const rows = {
    lastMessages: records.lastMessages,
    outboxPending: outbound.pendingOf,
    inboxPending: (instance: InstanceName) => inbound.inbound.pendingOf(instance),
    parked: (instance: InstanceName) => inbound.parked.countOf(instance),
    banRisk: outbound.banRisk,
  }
  live.relay.connect(createLiveViews({ instances: accounts.instances, held: inbound.held, rows }))
  return rows
}

/** Null on SQLite. `onRoutingChanged` is called when a tenant was changed at another node. */
export function connectNodes(
  base: Base,
  rooms: ConnectedRooms,
  { options, onRoutingChanged }: { options: RoomOptions; onRoutingChanged: () => void },
): Cluster | null {
  const { storage, accounts, tenants, jobs, inbound, outbound, notices, live } = rooms
  const { node, metrics } = storage
  if (!node) return null
  return createCluster(base, {
    ...{ node, accounts },
    onSettings: () => {
      tenants.cache.evictAll()
      tenants.secrets.evictAll()
      onRoutingChanged()
    },
    isBusy: (instance) =>
      jobs.jobs.isRunning(instance) || outbound.isSendingFile(instance) || inbound.posting.files.isFetching(instance),
    hasWaiting: (instance) => outbound.pendingOf(instance) > 0,
    onHandOverStep: options.onHandOverStep ?? (() => Promise.resolve()),
    onNodeUrl: options.onNodeUrl ?? (() => undefined),
    standIn: outbound.standIn,
    lookForRows: (instance) => outbound.lookAgain(instance),
    showCode: (...asked) => {
      notices?.showCode(...asked)
    },
    metrics: metrics.nodes,
    live: live.hub,
  })
}
