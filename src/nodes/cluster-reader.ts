// Shows the nodes to operators: the living ones as the last beat showed them, and what each of them holds, from the database.

import type {
  Cluster,
  ClusterCounts,
  ClusterReads,
  ClusterView,
  ListedNode,
  PastMove,
} from '../core/nodes/cluster-view.ts'
import type { SeenNode } from '../core/nodes/node.ts'
import type { Clock } from '../lib/clock.ts'
import { LastReading } from '../lib/last-reading.ts'
import type { Membership } from './membership/membership.ts'
import { shownOwnerName } from './owner-name.ts'
import { isCell } from './placement/cluster.ts'

type Deps = {
  membership: Pick<Membership, 'nodes'>
  /** The name of this node, which it keeps when it joins again. */
  ownName: string
  reads: ClusterReads
  clock: Clock
}

const mostMoves = 50

/** How old the counts may be for callers that need no token, and how long they wait for newer ones. */
const freshMs = 1000
const patienceMs = 500

export class ClusterReader implements ClusterView {
  readonly #deps: Deps
  readonly #recent: LastReading<void>
  #counts: ClusterCounts = { held: new Map(), quarantined: [] }

  constructor(deps: Deps) {
    this.#deps = deps
    this.#recent = new LastReading({ read: () => this.#count(), clock: deps.clock, freshMs, deadlineMs: patienceMs })
  }

  /** From memory: the counts are those of the last read. */
  get last(): Cluster {
    const { held, quarantined } = this.#counts
    const seen = this.#deps.membership.nodes
    const nodes = seen.map((node) => this.#list(node, seen))
    const all = [...held.values()].reduce((sum, count) => sum + count, 0)
    return { nodes, free: all - nodes.reduce((sum, node) => sum + node.held, 0), quarantined }
  }

  async read(): Promise<Cluster & { moves: PastMove[] }> {
    const [moves] = await Promise.all([this.#deps.reads.newestMoves(mostMoves), this.#count()])
    return { ...this.last, moves: moves.map((move) => ({ ...move, from: shown(move.from), to: shown(move.to) })) }
  }

  /** Afterwards the counts are at most a second old, unless the database fails or is slow. */
  async freshen(): Promise<void> {
    await this.#recent.find()
  }

  #list(node: SeenNode, all: readonly SeenNode[]): ListedNode {
    const { id, name, state, build, protocol, capacity, joinedAt } = node
    return {
      ...{ id, name: shownOwnerName(name), state, build, protocol, capacity, joinedAt },
      held: this.#counts.held.get(id) ?? 0,
      isCell: isCell(node),
      isSelf: name === this.#deps.ownName,
      settingsDiffer: node.settingsHash !== usualSettings(all, build),
    }
  }

  async #count(): Promise<void> {
    this.#counts = await this.#deps.reads.counts()
  }
}

/**
 * Those of most nodes of the build; of two that are equally common, those of the node that joined last. Another build may have
 * other settings to compare.
 */
function usualSettings(all: readonly SeenNode[], build: string): string | undefined {
  const nodes = all.filter((node) => node.build === build)
  const count = ({ settingsHash }: SeenNode) => nodes.filter((node) => node.settingsHash === settingsHash).length
  return nodes.sort((one, other) => count(other) - count(one) || other.joinedAt - one.joinedAt)[0]?.settingsHash
}

function shown(name: string | null): string | null {
  return name === null ? null : shownOwnerName(name)
}
