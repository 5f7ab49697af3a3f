// Makes this process a node on PostgreSQL: its membership and its way to other nodes.

import { systemClock } from '../../lib/clock.ts'
import type { Peers } from '../../core/nodes/peers.ts'
import type { NodeMetrics } from '../../ledger/node-metrics.ts'
import { CellProcesses } from '../../nodes/cells/cell-processes.ts'
import { Membership } from '../../nodes/membership/membership.ts'
import { NodeRight } from '../../nodes/node-right.ts'
import { isDeadOwner } from '../../nodes/owner-name.ts'
import { SetBackAlarm } from '../../nodes/set-back-alarm.ts'
import { inherit } from '../../nodes/placement/plan-placement.ts'
import type { Database } from '../../storage/database.ts'
import { LeaseStore } from '../../storage/stores/lease-store.ts'
import type { Base } from '../base.ts'
import { createPeers } from './create-peers.ts'
import type { PeerParts } from './create-peers.ts'
import { HolderRelay } from './holder-relay.ts'
import { CountedAssignmentStore, CountedNodeStore } from './counted-stores.ts'

type Options = {
  database: Database
  onFatal: (reason: Error) => void
  /** Prepares what earlier builds and backups left, before this process is a node. */
  prepare: (leaseEpoch: number) => Promise<void>
  metrics: NodeMetrics
  /** The file that runs as a cell; undefined where this process can start none. */
  cellProgram: string | undefined
}

export type NodeParts = {
  right: NodeRight
  membership: Membership
  tables: { nodes: CountedNodeStore; assignments: CountedAssignmentStore }
  setBack: SetBackAlarm
  peers: Peers
  /** Null when this process runs alone. */
  link: PeerParts | null
  relay: HolderRelay
  /** Null when this process starts no cells. */
  cells: CellProcesses | null
}

/** A process that runs alone has no other node to talk to. */
const noPeers: Peers = {
  renewed: () => Promise.resolve(undefined),
  look: () => Promise.resolve(),
  drain: () => Promise.resolve(),
}

export function createNode({ config, log, node: self, stack }: Base, options: Options): NodeParts {
  const { database, onFatal, prepare, metrics, cellProgram } = options
  // Real time even under the clock of a test: other nodes and the database take real time.
  const clock = systemClock
  const tables = {
    nodes: new CountedNodeStore(database, metrics, clock),
    assignments: new CountedAssignmentStore(database, metrics),
  }
  const setBack = new SetBackAlarm(clock)
  const link = config.nodes.listen ? createPeers({ config, clock, stack }) : null
  const peers = link?.peers ?? noPeers
  const relay = new HolderRelay()
  const membership: Membership = new Membership({
    ...{ node: self, tables, peers, isDead: isDeadOwner, clock, log },
    holder: relay,
    inherit: (dead, assignments, nodes) =>
      inherit(dead, { now: membership.databaseNow(), nodes, assignments, hasCells: cells !== null }),
    listener: {
      onSettings: () => {
        relay.settingsChanged()
      },
      onSetBack: () => {
        setBack.note()
      },
      onFatal,
    },
  })
  const leases = new LeaseStore(database)
  const right = stack.use(new NodeRight({ membership, leases, isDead: isDeadOwner, prepare, clock, log }))
  const hasCells = link !== null && config.nodes.cells && cellProgram !== undefined
  const cells = hasCells
    ? stack.use(
        new CellProcesses({
          ...{ program: cellProgram, address: self.address, clock, log },
          nodes: () => membership.nodes,
          heldBy: (node) => tables.assignments.heldBy(node),
          onStart: () => {
            metrics.cellStarted()
          },
        }),
      )
    : null
  return { right, membership, tables, setBack, peers, link, relay, cells }
}
