// Nodes: processes that share one PostgreSQL. Each instance is assigned to one of them.

import type { InstanceName } from '../ids.ts'
import type { Hold, NodeId } from './hold.ts'

export const nodeStates = ['active', 'draining', 'dead'] as const
export type NodeState = (typeof nodeStates)[number]

/** A node as it joins. */
export type NewNode = {
  id: NodeId
  /** Host and process, for people. */
  name: string
  /** Where other nodes reach it; empty when it runs alone and another process must wait. */
  address: string
  build: string
  protocol: number
  settingsHash: string
  /** How many instances it carries in relation to other nodes. 0: it is a cell, which holds suspects and nothing else. */
  capacity: number
}

/** A node as another one sees it. Dead nodes are not seen. */
export type SeenNode = NewNode & { state: NodeState; beat: number; joinedAt: number }

/** The answer to a beat. */
export type BeatAnswer = {
  /** The own beat; null when the others have buried this node. */
  mine: number | null
  /** Grows when others change what this node holds or is to give away. */
  version: number
  /** Grows with every change of a tenant or of an instance. */
  settings: number
  /** The lowest protocol that the nodes agreed on. */
  protocol: number
  /** Epoch milliseconds on the clock of the database. */
  now: number
  /** How many instances no node holds, without those in quarantine. Those that still name a dead owner may count as one. */
  free: number
  /** Every living node, this one included, by id. */
  nodes: SeenNode[]
}

/** `node` is null when no living node holds the instance. */
export type Assignment = {
  instance: InstanceName
  node: NodeId | null
  epoch: number
  since: number
  /** How many of its owners died in a row, each within ten minutes of the one before. */
  crashes: number
  crashedAt: number | null
  /** Set when the instance kills its owners: no node opens it until an operator restarts it. */
  quarantinedAt: number | null
}

/** The wish that one node gives an instance to another. */
export type Move = { instance: InstanceName; from: NodeId; to: NodeId; askedAt: number }

/** An instance, and the node that is to hold it. */
export type Placement = { instance: InstanceName; node: NodeId }

/** What is stored about nodes. All calls go over the vital connections. `now` is on the clock of the database, see `BeatAnswer`. */
export type NodeTable = {
  join(node: NewNode, now: number): Promise<void>
  /** One statement; it waits for nothing. */
  beat(id: NodeId): Promise<BeatAnswer>
  /**
   * In one commit: the node is dead, its instances go to the placements, the rest of them to no node, and their crashes are
   * counted. False when the node has beaten since: then nothing changes.
   */
  bury(dead: Pick<SeenNode, 'id' | 'beat'>, placements: readonly Placement[], now: number): Promise<boolean>
  /** It takes no more instances, and the wishes to give it one are dropped. */
  drain(id: NodeId): Promise<void>
  /** Ends a node that holds nothing; that is no crash. What it still holds becomes free. */
  end(id: NodeId, now: number): Promise<void>
  setCapacity(id: NodeId, capacity: number): Promise<void>
  /** Removes the rows of nodes that ended before that time, and the moves of before it. */
  prune(before: number): Promise<void>
}

/** What is stored about assignments and moves. `now` is on the clock of the database. */
export type AssignmentTable = {
  /** What one node holds. */
  heldBy(node: NodeId): Promise<Assignment[]>
  /** Without those in quarantine. */
  free(): Promise<Assignment[]>
  /** Every assignment. For placement and for lists. */
  all(): Promise<Assignment[]>
  find(instance: InstanceName): Promise<Assignment | undefined>
  /** When nodes were given up, also those that held nothing. */
  deathTimes(): Promise<number[]>
  /** Oldest first; only those whose giver holds the instance and whose taker is active. */
  moves(): Promise<Move[]>
  /** Places free instances. Rows that are locked or not free any more are left out. Returns what was placed. */
  place(placements: readonly Placement[], now: number): Promise<Assignment[]>
  /** Asks owners to give instances away. An instance keeps its wish. A wish for what the giver does not hold is left out. */
  wish(moves: readonly Move[]): Promise<void>
  dropWish(instance: InstanceName): Promise<void>
  /**
   * In one commit: the instance belongs to the other node under a new epoch, or to no node when that one is not active; the wish
   * is gone. Undefined when the hold is stale: then nothing changes.
   */
  handOver(hold: Hold, to: NodeId, now: number): Promise<Assignment | undefined>
  /**
   * The instance belongs to no node and is not placed. False when it has another owner or epoch by now: then nothing changes.
   */
  quarantine(held: Pick<Assignment, 'instance' | 'node' | 'epoch'>, now: number): Promise<boolean>
  /** Frees an instance from quarantine for that node and forgets its crashes. */
  release(instance: InstanceName, node: NodeId, now: number): Promise<Assignment | undefined>
}
