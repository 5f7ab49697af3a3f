// First step of a write on PostgreSQL that only one node may do: a stale hold undoes the whole write.

import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

/**
 * The row stays locked until commit, so that no change of the owner comes between check and write. The node is compared as well
 * as the epoch: a database that was set back gives an epoch twice, to different nodes.
 */
export function createAssignmentFence({ query }: Database): (hold: Hold | NodeHold) => Statement {
  const assignment = toStatement(
    query
      .selectFrom('assignments')
      .select('epoch')
      .where('instance', '=', '')
      .where('node', '=', '')
      .where('epoch', '=', 0)
      .forShare(),
  )
  // A key share lock blocks the burial (FOR UPDATE) but not the beat: slow writes must not look like a death.
  const node = toStatement(
    query.selectFrom('nodes').select('id').where('id', '=', '').where('state', '<>', 'dead').forKeyShare(),
  )
  const deleted = toStatement(
    query
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', '')
      .where('state', '<>', 'dead')
      .where((row) => row.not(row.exists(query.selectFrom('instances').select('name').where('name', '=', ''))))
      .forKeyShare(),
  )
  return (hold) => {
    if (!('instance' in hold)) return { sql: node.sql, parameters: [hold.node, 'dead'], expect: 1 }
    const { instance, epoch, isDeleted } = hold
    if (isDeleted) return { sql: deleted.sql, parameters: [hold.node, 'dead', instance], expect: 1 }
    return { sql: assignment.sql, parameters: [instance, hold.node, epoch], expect: 1, isFence: true }
  }
}
