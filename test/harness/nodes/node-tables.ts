// What a test of nodes needs of the database: the tables, and what other parts of the service would write into them.

import type { AssignmentTable, NodeTable } from '../../../src/core/nodes/node.ts'

export type NodeTables = {
  nodes: NodeTable
  assignments: AssignmentTable
  /** A new instance that no node holds. */
  addInstance(name: string): Promise<void>
  /** A tenant or an instance was changed at any node. */
  changeSettings(): Promise<void>
  /** The clock of the database jumps. */
  stepClock(byMs: number): Promise<void>
  /** The nodes are as at an earlier copy: a replica took over that had not everything. */
  copyNodes(): Promise<() => Promise<void>>
}
