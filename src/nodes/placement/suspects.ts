// Which instances may have killed their nodes.
//
// An instance that kills its node follows it to the next one. After the first death all instances of the node go to other
// nodes. After a second death within ten minutes those that were there both times are suspects: they go to a cell, a process
// that holds nothing else. Those that were in a cell which died are accused.

import type { Assignment } from '../../core/nodes/node.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import { isWithin } from './within.ts'

/** After this time without a death the deaths are forgotten. */
const memoryMs = 10 * 60_000

/** Deaths this close to each other may have one cause outside, such as a machine that is gone. They prove nothing. */
const coincidenceMs = 5_000

const suspectCrashes = 2
const accusedCrashes = 3

/** An instance that no node holds cannot show that it does no harm, so nothing is forgotten meanwhile. */
function crashesOf({ node, since, crashes, crashedAt }: Assignment, now: number): number {
  if (crashedAt === null) return 0
  return node === null || isWithin(memoryMs, Math.max(since, crashedAt), now) ? crashes : 0
}

export function isSuspect(assignment: Assignment, now: number): boolean {
  return crashesOf(assignment, now) >= suspectCrashes
}

/** Whether one more death of its owner makes it a suspect. */
export function isSuspectAfterDeath(assignment: Assignment, now: number): boolean {
  return crashesOf(assignment, now) + 1 >= suspectCrashes
}

/** It was in a cell that died, and no instance that was found since explains that death. */
export function isAccused({ crashes, crashedAt }: Assignment, lastQuarantineAt: number): boolean {
  return crashes >= accusedCrashes && crashedAt !== null && crashedAt > lastQuarantineAt
}

export function findLastQuarantine(assignments: readonly Assignment[]): number {
  return assignments.reduce((last, { quarantinedAt }) => Math.max(last, quarantinedAt ?? 0), 0)
}

/** The accused that was alone in the cell that died last, while no other node died. A node that held nothing may die with its cell. */
export function findKiller(
  accused: readonly Assignment[],
  { assignments, deathTimes }: Pick<PlacementView, 'assignments' | 'deathTimes'>,
): Assignment | undefined {
  const lastCrashAt = assignments.reduce((last, { crashedAt }) => Math.max(last, crashedAt ?? 0), 0)
  const isNear = (at: number | null) => Math.abs(lastCrashAt - (at ?? 0)) < coincidenceMs
  const crashed = assignments.filter(({ crashedAt }) => isNear(crashedAt))
  if (crashed.length !== 1 || deathTimes.filter(isNear).length > 1) return undefined
  return accused.find((each) => each === crashed[0])
}

/** Until then another death may follow that shows a cause outside. */
export function isVerdictDue({ crashedAt }: Assignment, now: number): boolean {
  return crashedAt !== null && !isWithin(coincidenceMs, crashedAt, now)
}
