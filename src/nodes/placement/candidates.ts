// Which instances of a node may move, and which of them move first.

import type { Assignment } from '../../core/nodes/node.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import { compareText } from './cluster.ts'
import { isSuspect } from './suspects.ts'

/** An instance that was asked to move rests this long. */
const restMs = 10 * 60_000

export function isResting({ instance }: Assignment, { asked, now }: PlacementView): boolean {
  const askedAt = asked.get(instance)
  return askedAt !== undefined && now - askedAt < restMs
}

/**
 * Those that are not pinned, not in a move and no suspects. First those that were asked to move least recently, so that one that
 * cannot leave does not keep the others from leaving. Then those that are not connected, then those that are idle longest.
 */
export function candidatesOf(held: readonly Assignment[], view: PlacementView): Assignment[] {
  const moving = new Set(view.moves.map(({ instance }) => instance))
  const movable = held.filter((assignment) => {
    const isPinned = view.activityOf(assignment.instance)?.isPinned ?? false
    return !isPinned && !moving.has(assignment.instance) && !(view.hasCells && isSuspect(assignment, view.now))
  })
  const keys = movable.map((assignment) => {
    const { isConnected = true, lastUsedAt = 0 } = view.activityOf(assignment.instance) ?? {}
    const askedAt = isResting(assignment, view) ? (view.asked.get(assignment.instance) ?? 0) : 0
    return { assignment, order: [askedAt, Number(isConnected), lastUsedAt] }
  })
  keys.sort((one, other) => {
    const difference = one.order.map((value, index) => value - (other.order[index] ?? 0)).find((value) => value !== 0)
    return difference ?? compareText(one.assignment.instance, other.assignment.instance)
  })
  return keys.map(({ assignment }) => assignment)
}
