// What the service asks about the nodes that share its database.

import type { InstanceName } from '../../core/ids.ts'
import type { ClusterView } from '../../core/nodes/cluster-view.ts'
import type { NodesShown } from '../../http/routes/health-schema.ts'
import type { OwnView } from '../../nodes/peer-routes.ts'

export type NodeView = {
  /** False only while this node holds every instance. Then no list reads the database. */
  hasPeers: () => boolean
  /** The instance has new rows in its outbox, which this node stored for its owner. Best effort. */
  tellOwner: (instance: InstanceName) => void
  /** For health, from memory; undefined while there is one node. */
  shown: () => NodesShown | undefined
  /** Afterwards what is shown is at most a second old, unless the database fails or is slow. */
  freshen: () => Promise<void>
  /** For GET /api/nodes; null when this process is no node. */
  cluster: ClusterView | null
  /** What every other node answers about the instances that it holds; one that does not answer in time is left out. */
  readOthers: (view: OwnView) => Promise<unknown[]>
  /** Why other nodes should get the requests; null when this one takes them. One that has no peers always takes them. */
  trouble: () => 'draining' | 'cut_off' | null
}

/** One process holds every instance. */
export const onlyNode: NodeView = {
  hasPeers: () => false,
  tellOwner: () => undefined,
  shown: () => undefined,
  freshen: () => Promise.resolve(),
  cluster: null,
  readOthers: () => Promise.resolve([]),
  trouble: () => null,
}
