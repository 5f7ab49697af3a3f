// What placement sees and what it decides. It is a pure function: two nodes that run it at once do no harm.

import type { Assignment, Move, Placement, SeenNode } from './node.ts'
import type { InstanceName } from '../ids.ts'

/** What matters for the choice which instance moves. */
export type Activity = {
  /** An open pairing, a running import or a file on its way: it does not move now. */
  isPinned: boolean
  isConnected: boolean
  /** Epoch milliseconds of the last message; 0 when there was none. */
  lastUsedAt: number
}

export type PlacementView = {
  now: number
  nodes: readonly SeenNode[]
  assignments: readonly Assignment[]
  moves: readonly Move[]
  /** The last time that a node joined, drained or died. */
  changedAt: number
  activityOf: (instance: InstanceName) => Activity | undefined
  /** When instances were last asked to move. */
  asked: ReadonlyMap<InstanceName, number>
  /** When nodes were given up, also those that held nothing. Only a plan that puts an instance into quarantine needs it. */
  deathTimes: readonly number[]
  /** Whether a cell can be started. Where it cannot, suspects are placed like all others. */
  hasCells: boolean
}

export type PlacementPlan = {
  /** Free instances and who holds them now. */
  place: Placement[]
  /** At most eight are under way, those of before included. */
  wish: Move[]
  /** Wishes that cannot be fulfilled any more, or that their owner does not fulfil. */
  drop: InstanceName[]
  /** Instances that have killed a cell in which they were alone. */
  quarantine: Assignment[]
  /** Suspects wait, and one more cell could take them. */
  startCell: boolean
}
