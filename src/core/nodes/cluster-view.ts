// What operators see of the nodes.

import type { InstanceName } from '../ids.ts'
import type { NodeId } from './hold.ts'
import type { SeenNode } from './node.ts'

/** death: the node before died. hand_over: it gave the instance away. placed: no node held the instance. */
export const moveReasons = ['death', 'hand_over', 'placed'] as const
export type MoveReason = (typeof moveReasons)[number]

export type PastMove = {
  instance: InstanceName
  /** The name of the node before; null when no node held the instance. */
  from: string | null
  /** The name of the node after; null when no other node could take the instance. */
  to: string | null
  reason: MoveReason
  /** On the clock of the database. */
  at: number
}

export type ClusterCounts = {
  /** How many instances each node holds. Those of no node have the key null; those in quarantine do not count. */
  held: ReadonlyMap<NodeId | null, number>
  /** By name. */
  quarantined: InstanceName[]
}

/** What is stored about the nodes for operators. */
export type ClusterReads = {
  counts(): Promise<ClusterCounts>
  /** Newest first. */
  newestMoves(limit: number): Promise<PastMove[]>
}

export type ListedNode = Pick<SeenNode, 'id' | 'name' | 'state' | 'build' | 'protocol' | 'capacity' | 'joinedAt'> & {
  held: number
  /** A process that holds only instances that may end it. */
  isCell: boolean
  /** The node that answers. */
  isSelf: boolean
  /** Its settings are not those of most nodes of its build, so it treats messages in another way. */
  settingsDiffer: boolean
}

export type Cluster = {
  nodes: ListedNode[]
  /** How many instances no living node holds, without those in quarantine. */
  free: number
  quarantined: InstanceName[]
}

export type ClusterView = {
  /** As it is now, with the last moves. */
  read(): Promise<Cluster & { moves: PastMove[] }>
}
