// Decides who holds what: free instances go to nodes at once, others move for a node that drains or to make nodes even.

import type { InstanceName } from '../../core/ids.ts'
import type { Move, Placement, SeenNode } from '../../core/nodes/node.ts'
import type { PlacementPlan, PlacementView } from '../../core/nodes/placement.ts'
import { planCells } from './cells.ts'
import { Cluster, isPossible } from './cluster.ts'
import { planLeaving } from './leaving.ts'
import { planRebalancing } from './rebalancing.ts'
import { isSuspect, isSuspectAfterDeath } from './suspects.ts'

const mostUnderWay = 8

/** A wish that its owner has not fulfilled by then makes room for another one. */
const wishMs = 60_000

export function planPlacement(view: PlacementView): PlacementPlan {
  const cluster = new Cluster(view)
  const kept = view.moves.filter((move) => view.now - move.askedAt < wishMs && isPossible(cluster, move))
  for (const move of kept) cluster.count(move)
  const ordinary = cluster.free.filter((each) => !(view.hasCells && isSuspect(each, view.now)))
  const placed = spread(ordinary, cluster)
  const cells = planCells(view, cluster)
  const wish: Move[] = cells.wish
    .filter(({ instance }) => view.moves.every((move) => move.instance !== instance))
    .slice(0, Math.max(0, mostUnderWay - kept.length))
  const room = () => mostUnderWay - kept.length - wish.length
  wish.push(...planLeaving(view, cluster, room()))
  wish.push(...planRebalancing(view, cluster, room()))
  const drop = view.moves.filter((move) => !kept.includes(move)).map(({ instance }) => instance)
  return { place: [...placed, ...cells.place], wish, drop, quarantine: cells.quarantine, startCell: cells.startCell }
}

/** Who gets the instances of a node that died. Suspects are left out: they wait for a cell. */
export function inherit(
  dead: Pick<SeenNode, 'id'>,
  view: Pick<PlacementView, 'now' | 'nodes' | 'assignments' | 'hasCells'>,
): Placement[] {
  const cluster = new Cluster({ ...view, nodes: view.nodes.filter(({ id }) => id !== dead.id) })
  const orphans = cluster.free.filter(({ node }) => node === dead.id)
  return spread(
    orphans.filter((each) => !(view.hasCells && isSuspectAfterDeath(each, view.now))),
    cluster,
  )
}

/** Each goes to the taker that has the most room by then. */
function spread(instances: readonly { instance: InstanceName }[], cluster: Cluster): Placement[] {
  return instances.flatMap(({ instance }) => {
    const node = cluster.emptiest()
    if (node === undefined) return []
    cluster.count({ to: node.id })
    return [{ instance, node: node.id }]
  })
}
