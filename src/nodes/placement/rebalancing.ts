// Moves instances one by one from fuller to emptier nodes until they are about even.
//
// Two nodes are even when they differ by at most a tenth of a fair share, and by at most two. The difference counts twice the
// instances that would have to move to fill both alike, which for nodes of one capacity is the difference of what they hold.
// Every move lowers the sum of held² / capacity, so the moves end.

import type { Assignment, Move, SeenNode } from '../../core/nodes/node.ts'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import { candidatesOf, isResting } from './candidates.ts'
import type { Cluster } from './cluster.ts'

/** After a node joined, drained or died. Another one may follow, as in an upgrade. */
const quietMs = 30_000

const startsPerSecond = 4
const tolerance = 0.1
const leastDifference = 2

export function planRebalancing(view: PlacementView, cluster: Cluster, most: number): Move[] {
  if (view.now - view.changedAt < quietMs) return []
  const startsNow = [...view.asked.values()].filter((askedAt) => view.now - askedAt < 1000).length
  const limit = Math.min(most, startsPerSecond - startsNow)
  const candidates = new Map<NodeId, Assignment[]>()
  const moves: Move[] = []
  while (moves.length < limit) {
    const move = findMove(view, cluster, candidates)
    if (move === undefined) break
    cluster.count(move)
    moves.push(move)
  }
  return moves
}

/** From the fullest node that can give one to the emptiest node that differs enough. */
function findMove(view: PlacementView, cluster: Cluster, candidates: Map<NodeId, Assignment[]>): Move | undefined {
  const givers = [...cluster.active].sort((one, other) => cluster.shareOf(other) - cluster.shareOf(one))
  const takers = [...cluster.takers].sort((one, other) => cluster.shareOf(one) - cluster.shareOf(other))
  const fairShareOf = fairShares(cluster)
  for (const from of givers) {
    const to = takers.find((taker) => {
      const fair = Math.min(fairShareOf(from), fairShareOf(taker))
      return difference(cluster, from, taker) > Math.max(leastDifference, fair * tolerance)
    })
    if (to === undefined) continue
    const movable = candidates.get(from.id) ?? restedOf(view, cluster, from)
    candidates.set(from.id, movable)
    const next = movable.shift()
    if (next !== undefined) return { instance: next.instance, from: from.id, to: to.id, askedAt: view.now }
  }
  return undefined
}

function restedOf(view: PlacementView, cluster: Cluster, node: SeenNode): Assignment[] {
  return candidatesOf(cluster.heldBy(node.id), view).filter((each) => !isResting(each, view))
}

function difference(cluster: Cluster, from: SeenNode, to: SeenNode): number {
  const surplus = cluster.countOf(from.id) * to.capacity - cluster.countOf(to.id) * from.capacity
  return (2 * surplus) / (from.capacity + to.capacity)
}

function fairShares(cluster: Cluster): (node: SeenNode) => number {
  const held = cluster.active.reduce((sum, { id }) => sum + cluster.countOf(id), 0)
  const capacity = cluster.active.reduce((sum, node) => sum + node.capacity, 0)
  return (node) => (held * node.capacity) / capacity
}
