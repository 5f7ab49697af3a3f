// Makes this process a node on PostgreSQL: its membership and its way to other nodes.

import { systemClock } from '../../lib/clock.ts'
import type { Peers } from '../../core/nodes/peers.ts'
import { Membership } from '../../nodes/membership/membership.ts'
import { NodeRight } from '../../nodes/node-right.ts'
import { isDeadOwner } from '../../nodes/owner-name.ts'
import { inherit } from '../../nodes/placement/plan-placement.ts'
import type { Database } from '../../storage/database.ts'
import { LeaseStore } from '../../storage/stores/lease-store.ts'
import { AssignmentStore } from '../../storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../storage/stores/nodes/node-store.ts'
import type { Base } from '../base.ts'
import { createPeers } from './create-peers.ts'
import type { PeerParts } from './create-peers.ts'
import { HolderRelay } from './holder-relay.ts'
import { newNode } from './new-node.ts'

type Options = {
  database: Database
  onFatal: (reason: Error) => void
  /** Prepares what earlier builds and backups left, before this process is a node. */
  prepare: (leaseEpoch: number) => Promise<void>
}

export type NodeParts = {
  right: NodeRight
  membership: Membership
  tables: { nodes: NodeStore; assignments: AssignmentStore }
  peers: Peers
  /** Null when this process runs alone. */
  link: PeerParts | null
  relay: HolderRelay
}

/** A process that runs alone has no other node to talk to. */
const noPeers: Peers = {
  renewed: () => Promise.resolve(undefined),
  look: () => Promise.resolve(),
  drain: () => Promise.resolve(),
  comingSoon: () => Promise.resolve(),
}

export function createNode({ config, log, build, stack }: Base, { database, onFatal, prepare }: Options): NodeParts {
  // Real time even under the clock of a test: other nodes and the database take real time.
  const clock = systemClock
  const tables = { nodes: new NodeStore(database), assignments: new AssignmentStore(database) }
  const link = config.nodes.listen ? createPeers({ config, clock, stack }) : null
  const peers = link?.peers ?? noPeers
  const relay = new HolderRelay()
  const { id: _, ...node } = newNode(config, build.version)
  const membership: Membership = new Membership({
    ...{ node, tables, peers, isDead: isDeadOwner, clock, log },
    holder: relay,
    inherit: (dead, assignments, nodes) =>
      inherit(dead, { now: membership.databaseNow(), nodes, assignments, hasCells: false }),
    listener: {
      onSettings: () => {
        relay.settingsChanged()
      },
      onSetBack: () => undefined,
      onFatal,
    },
  })
  const leases = new LeaseStore(database)
  const right = stack.use(new NodeRight({ membership, leases, isDead: isDeadOwner, prepare, clock, log }))
  return { right, membership, tables, peers, link, relay }
}
