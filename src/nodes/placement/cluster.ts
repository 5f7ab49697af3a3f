// The view of placement, sorted: who takes instances, who holds which, which are free, and how full each node is.
//
// The order of rows and nodes in the view does not matter, so that every node makes the same plan of the same view.

import type { InstanceName } from '../../core/ids.ts'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { Assignment, Move, SeenNode } from '../../core/nodes/node.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import { getOrCreate } from '../../lib/keyed.ts'

export type ClusterView = Pick<PlacementView, 'nodes' | 'assignments'>

export class Cluster {
  /** Living nodes by id. */
  readonly nodes: readonly SeenNode[]
  /** Active nodes that are no cells. */
  readonly active: readonly SeenNode[]
  /** Those of them that take instances: the ones of the newest build. */
  readonly takers: readonly SeenNode[]
  /** Active cells. */
  readonly cells: readonly SeenNode[]
  /** Without those in quarantine, by name. */
  readonly free: readonly Assignment[]
  readonly #byNode = new Map<NodeId, Assignment[]>()
  readonly #byName = new Map<InstanceName, Assignment>()
  readonly #counts = new Map<NodeId, number>()

  constructor({ nodes, assignments }: ClusterView) {
    this.nodes = nodes.filter(({ state }) => state !== 'dead').sort((one, other) => compareText(one.id, other.id))
    this.active = this.nodes.filter(takesInstances)
    this.takers = ofNewestBuild(this.active)
    this.cells = this.nodes.filter((node) => node.state === 'active' && isCell(node))
    const living = new Set(this.nodes.map(({ id }) => id))
    const free: Assignment[] = []
    for (const assignment of [...assignments].sort((one, other) => compareText(one.instance, other.instance))) {
      if (assignment.quarantinedAt !== null) continue
      this.#byName.set(assignment.instance, assignment)
      // A burial skips rows that are locked: they still name the dead node.
      if (assignment.node === null || !living.has(assignment.node)) free.push(assignment)
      else getOrCreate(this.#byNode, assignment.node, () => []).push(assignment)
    }
    this.free = free
    for (const [id, held] of this.#byNode) this.#counts.set(id, held.length)
  }

  heldBy(node: NodeId): readonly Assignment[] {
    return this.#byNode.get(node) ?? []
  }

  find(instance: InstanceName): Assignment | undefined {
    return this.#byName.get(instance)
  }

  /** How many instances it holds, with those that were counted in since. */
  countOf(node: NodeId): number {
    return this.#counts.get(node) ?? 0
  }

  /** Counts a placement in, or a move as done. */
  count({ from, to }: { from?: NodeId; to: NodeId }): void {
    if (from !== undefined) this.#counts.set(from, this.countOf(from) - 1)
    this.#counts.set(to, this.countOf(to) + 1)
  }

  /** The taker with the most room. The first by id when several have as much. */
  emptiest(): SeenNode | undefined {
    let best: SeenNode | undefined
    for (const node of this.takers) if (best === undefined || this.shareOf(node) < this.shareOf(best)) best = node
    return best
  }

  shareOf(node: SeenNode): number {
    return this.countOf(node.id) / node.capacity
  }
}

/** Whether other nodes may give it instances that are no suspects. */
export function takesInstances(node: SeenNode): boolean {
  return node.state === 'active' && !isCell(node)
}

export function isCell({ capacity }: Pick<SeenNode, 'capacity'>): boolean {
  return capacity <= 0
}

/** The moves that still lead somewhere: the giver holds the instance, and the taker is active. */
export function isPossible(cluster: Cluster, { instance, from, to }: Move): boolean {
  const isHeld = cluster.find(instance)?.node === from && cluster.nodes.some(({ id }) => id === from)
  return isHeld && [...cluster.active, ...cluster.cells].some(({ id }) => id === to)
}

/**
 * The newest build is the one whose first living node joined last. So a way back to an older version is an upgrade too, and a
 * node of the old build that joins again does not make its build new while another one of it lives.
 */
function ofNewestBuild(nodes: readonly SeenNode[]): SeenNode[] {
  const firstJoin = new Map<string, number>()
  for (const { build, joinedAt } of nodes) firstJoin.set(build, Math.min(joinedAt, firstJoin.get(build) ?? Infinity))
  const builds = [...firstJoin].sort(([one, joined], [other, otherJoined]) => {
    return otherJoined - joined || compareText(other, one)
  })
  return nodes.filter(({ build }) => build === builds[0]?.[0])
}

/** By code units, the same on every machine. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
