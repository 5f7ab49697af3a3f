// Carries rooms to those that are created before them.

import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Cluster } from '../nodes/create-cluster.ts'
import type { OutboundSet } from '../outbound/create-outbound.ts'
import type { SyncSet } from '../sync/create-sync.ts'

class Later<Room> {
  #room: { room: Room } | undefined

  set(room: Room): void {
    this.#room = { room }
  }

  get(): Room {
    if (!this.#room) throw new Error('a room was asked for before it was created')
    return this.#room.room
  }
}

export class LaterRooms {
  readonly instances = new Later<InstanceRegistry>()
  readonly outbound = new Later<OutboundSet>()
  readonly sync = new Later<SyncSet>()
  /** Null on SQLite. */
  readonly cluster = new Later<Cluster | null>()
}
