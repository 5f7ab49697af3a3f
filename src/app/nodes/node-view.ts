// What the service asks about the nodes that share its database.

import type { NodesShown } from '../../http/routes/health-schema.ts'

export type NodeView = {
  /** False only while this node holds every instance. Then no list reads the database. */
  hasPeers: () => boolean
  /** For health; undefined while there is one node. */
  shown: () => NodesShown | undefined
  /** What every other node answers about the instances that it holds; one that does not answer in time is left out. */
  overviews: () => Promise<unknown[]>
  /** Why other nodes should get the requests; null when this one takes them. One that has no peers always takes them. */
  trouble: () => 'draining' | 'cut_off' | null
}

/** One process holds every instance. */
export const onlyNode: NodeView = {
  hasPeers: () => false,
  shown: () => undefined,
  overviews: () => Promise.resolve([]),
  trouble: () => null,
}
