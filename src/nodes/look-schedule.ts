// Decides when a node looks at all assignments. A look reads every row, so it is rare while nothing happens.
//
// The first node, the active one with the smallest id, plans for all. Every other one only places free instances, and only
// when they have been free for so long that the first node seems to have stopped.

import type { NodeId } from '../core/nodes/hold.ts'
import type { SeenNode } from '../core/nodes/node.ts'
import { compareText, isCell } from './placement/cluster.ts'

/** What the last beat of this node showed. */
export type BeatView = { id: NodeId; nodes: readonly SeenNode[]; free: number }

/** To plan means to place free instances, to move others and to judge suspects. */
export type Duty = 'plan' | 'place' | 'none'

const routineMs = 30_000
const quietMs = 30_000
const patienceMs = 3_000

export class LookSchedule {
  #members = ''
  #shape = ''
  #changedAt = 0
  #freeSince: number | undefined
  #lookedAt = -Infinity
  #isBusy = false

  /** How long ago a node joined, drained or died. The first view counts as such a change. */
  quietFor(at: number): number {
    return at - this.#changedAt
  }

  /** `at` is on a scale that never goes back. */
  note({ id, nodes, free }: BeatView, at: number): Duty {
    const members = nodes.map((node) => `${node.id} ${node.state}`).join()
    if (members !== this.#members) this.#changedAt = at
    this.#members = members
    this.#freeSince = free === 0 ? undefined : (this.#freeSince ?? at)
    if (firstOf(nodes) !== id) return this.#isLate(at) ? 'place' : 'none'
    return this.#isDue(nodes, free, at) ? 'plan' : 'none'
  }

  /** `isBusy` when the look found something to do or to wait for: the next one comes soon. */
  noteLook(nodes: readonly SeenNode[], at: number, isBusy: boolean): void {
    this.#shape = shapeOf(nodes)
    this.#lookedAt = at
    this.#isBusy = isBusy
  }

  #isLate(at: number): boolean {
    const isFreeForLong = this.#freeSince !== undefined && at - this.#freeSince >= patienceMs
    return isFreeForLong && at - this.#lookedAt >= patienceMs
  }

  #isDue(nodes: readonly SeenNode[], free: number, at: number): boolean {
    const isSpecial = nodes.some((node) => node.state === 'draining' || isCell(node))
    if (free > 0 || isSpecial || this.#isBusy || shapeOf(nodes) !== this.#shape) return true
    const quietEnd = this.#changedAt + quietMs
    return at - this.#lookedAt >= routineMs || (at >= quietEnd && this.#lookedAt < quietEnd)
  }
}

/**
 * The node that does what belongs to no instance. A draining node does it only when no active one is left. A cell never does: it
 * may die at any time.
 */
export function firstOf(nodes: readonly SeenNode[]): NodeId | undefined {
  const lasting = nodes.filter((node) => !isCell(node))
  const active = lasting.filter(({ state }) => state === 'active')
  return (active.length > 0 ? active : lasting).map(({ id }) => id).sort(compareText)[0]
}

function shapeOf(nodes: readonly SeenNode[]): string {
  return nodes.map(({ id, state, capacity }) => `${id} ${state} ${capacity}`).join()
}
