// Creates the rooms of the service and connects them. Each room is created after the rooms that it uses; relays, created first,
// carry what has to go the other way.

import type { Base } from './base.ts'
import { createSetupChecks } from './create-setup-checks.ts'
import { createJobRooms } from './jobs/create-job-rooms.ts'
import { createStoredRowsReader } from './live/stored-rows.ts'
import { connectAccounts, connectLive, connectNodes } from './rooms/connect-rooms.ts'
import { createAccountRooms } from './rooms/create-account-rooms.ts'
import { createFoundation } from './rooms/create-foundation.ts'
import { createMessageRooms } from './rooms/create-message-rooms.ts'
import { LaterRooms } from './rooms/later-rooms.ts'
import type { RoomOptions } from './rooms/room-options.ts'

export type Rooms = Awaited<ReturnType<typeof createRooms>>

/** `onFatal` is called with the reason when the service cannot go on. */
export async function createRooms(base: Base, options: RoomOptions, onFatal: (reason: Error) => void) {
  const later = new LaterRooms()
  const foundation = await createFoundation(base, options, { later, onFatal })
  const accountRooms = createAccountRooms(base, foundation, later, options)
  const messageRooms = createMessageRooms(base, { foundation, accountRooms, later, options })
  const { storage, duties, live, records } = foundation
  const { accounts, settingsOf, downstream, tenants } = accountRooms
  const { inbound, outbound, sync, helpdeskDatabase } = messageRooms
  const jobRooms = createJobRooms(base, {
    ...{ settingsOf, storage, duties, accounts, inbound, sync, downstream, helpdeskDatabase, live: live.relay },
    ...{ lateCommitMs: options.lateCommitMs, importRunner: options.importRunner },
  })
  const { instances, roster, network } = accounts
  const setup = createSetupChecks(base, {
    ...{ settingsOf, instances, roster, network, downstream, routing: tenants.routing, metrics: storage.metrics },
    ...{ machine: options.machine, lostCallbacks: inbound.lostCallbacks },
    ...{ refusals: outbound.refusals, clocks: outbound.clocks },
  })
  const rooms = { ...foundation, ...accountRooms, ...messageRooms, ...jobRooms, setup }
  const perInstance = connectAccounts(rooms)
  const rows = connectLive(rooms)
  const onRoutingChanged = () => {
    inbound.held.releaseAll()
    setup.watch.recheckBroken()
  }
  const cluster = connectNodes(base, rooms, { options, onRoutingChanged })
  later.cluster.set(cluster)
  const readStoredRows = createStoredRowsReader(storage.database, outbound.banRisk)
  return { ...rooms, cluster, onRoutingChanged, perInstance, live: { ...live, records, rows, readStoredRows } }
}
