// The tables of several processes on one PostgreSQL. SQLite has none of them.

import type { Generated } from 'kysely'
import type { InstanceName } from '../../core/ids.ts'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { NodeState } from '../../core/nodes/node.ts'
import type { MoveReason } from '../../core/nodes/cluster-view.ts'

export type NodesTable = {
  id: NodeId
  name: string
  address: string
  build: string
  protocol: number
  settings_hash: string
  state: NodeState
  /** The node itself writes it. */
  beat: Generated<number>
  capacity: number
  /** What a node that opens a suspect notes before it does so. */
  last_words: string | null
  joined_at: number
  ended_at: number | null
  /** 1 when other nodes ended it: then its end counts as a crash. */
  is_buried: Generated<number>
}

export type NodeVersionsTable = { node: NodeId; version: number }

export type AssignmentsTable = {
  instance: InstanceName
  /** A dead node holds nothing: a row that still names one is free. */
  node: NodeId | null
  epoch: number
  since: number
  crashes: Generated<number>
  crashed_at: number | null
  quarantined_at: number | null
}

export type MovesTable = { instance: InstanceName; from_node: NodeId; to_node: NodeId; asked_at: number }

/** Pruned together with the nodes that it names. */
export type PastMovesTable = {
  id: Generated<number>
  instance: InstanceName
  from_node: NodeId | null
  to_node: NodeId | null
  reason: MoveReason
  at: number
}

/** One row. */
export type ClusterTable = { id: number; settings: number; protocol: number }
