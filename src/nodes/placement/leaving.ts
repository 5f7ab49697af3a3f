// Moves everything away from a node that drains, and from a cell what is suspect no more. Neither waits for quiet times.

import type { Move } from '../../core/nodes/node.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import { candidatesOf } from './candidates.ts'
import { isCell } from './cluster.ts'
import type { Cluster } from './cluster.ts'

export function planLeaving(view: PlacementView, cluster: Cluster, most: number): Move[] {
  const givers = cluster.nodes.filter((node) => node.state === 'draining' || isCell(node))
  const leaving = givers.flatMap((node) => {
    // Only a cell keeps suspects back. A node that ends gives everything away.
    const candidates = candidatesOf(cluster.heldBy(node.id), { ...view, hasCells: view.hasCells && isCell(node) })
    return candidates.map(({ instance }) => ({ instance, from: node.id }))
  })
  return leaving.slice(0, Math.max(0, most)).flatMap(({ instance, from }) => {
    const taker = cluster.emptiest()
    if (taker === undefined) return []
    cluster.count({ from, to: taker.id })
    return [{ instance, from, to: taker.id, askedAt: view.now }]
  })
}
