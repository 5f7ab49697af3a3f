// Which instances may have killed their nodes.
//
// An instance that kills its node follows it to the next one. After the first death all instances of the node go to other
// nodes. After a second death within ten minutes those that were there both times are suspects: they go to a cell, a process
// that holds nothing else. Those that were in a cell which died are accused.

import type { Assignment } from '../../core/nodes/node.ts'

/** After this time without a death the deaths are forgotten. */
const memoryMs = 10 * 60_000

/** Deaths this close to each other may have one cause outside, such as a machine that is gone. They prove nothing. */
const coincidenceMs = 5_000

const suspectCrashes = 2
const accusedCrashes = 3

/** An instance that no node holds cannot show that it does no harm, so nothing is forgotten meanwhile. */
function crashesOf({ node, since, crashes, crashedAt }: Assignment, now: number): number {
  if (crashedAt === null) return 0
  return node === null || now - Math.max(since, crashedAt) < memoryMs ? crashes : 0
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

/** The accused that was alone in the cell that died last. */
export function findKiller(accused: readonly Assignment[], assignments: readonly Assignment[]): Assignment | undefined {
  const lastCrashAt = assignments.reduce((last, { crashedAt }) => Math.max(last, crashedAt ?? 0), 0)
  const crashed = assignments.filter(({ crashedAt }) => lastCrashAt - (crashedAt ?? 0) < coincidenceMs)
  return crashed.length === 1 ? accused.find((each) => each === crashed[0]) : undefined
}

/** Until then another death may follow that shows a cause outside. */
export function isVerdictDue({ crashedAt }: Assignment, now: number): boolean {
  return now - (crashedAt ?? now) >= coincidenceMs
}
