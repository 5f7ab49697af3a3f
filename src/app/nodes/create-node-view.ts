// What the service asks about the nodes, on PostgreSQL.

import type { Peer } from '../../core/nodes/peers.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Membership } from '../../nodes/membership/membership.ts'
import type { Database } from '../../storage/database.ts'
import type { Base } from '../base.ts'
import { createClusterView } from './create-cluster-view.ts'
import type { NodeParts } from './create-node.ts'
import type { NodeView } from './node-view.ts'

/** Every other living node that can be asked. */
export function peersOf({ id: self, nodes }: Membership): Peer[] {
  return nodes.filter(({ id, address }) => id !== self && address !== '').map(({ id, address }) => ({ id, address }))
}

type ViewParts = {
  node: NodeParts
  database: Database
  tellOwner: NodeView['tellOwner']
  /** Whether this node serves every instance. */
  isComplete: () => boolean
}

export function createNodeView(base: Base, { node, database, tellOwner, isComplete }: ViewParts): NodeView {
  const { membership, link, setBack } = node
  const view = createClusterView({ membership, node: base.node, setBack, database, clock: systemClock })
  return {
    ...view,
    ...(link === null && { shown: () => undefined, freshen: () => Promise.resolve() }),
    tellOwner,
    readOthers: (asked) => link?.peers.views(peersOf(membership), asked) ?? Promise.resolve([]),
    // Alone it holds every instance, except while one of them has no owner.
    hasPeers: () => link !== null || !isComplete(),
    trouble: () => {
      const { state, hasServingPeers } = membership
      if (!hasServingPeers) return null
      if (state === 'draining') return 'draining'
      return state === 'isolated' || state === 'uncertain' ? 'cut_off' : null
    },
  }
}
