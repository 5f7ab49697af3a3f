// A step of a write by a node that does not hold the instance. Without a hold nothing else says that the instance exists.

import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

/**
 * The write is undone when there is no such instance. On PostgreSQL the record stays locked until commit: it cannot be deleted
 * in between, but its owner can change it.
 */
export function existingInstance({ query, engine }: Database, instance: InstanceName): Statement {
  const record = query.selectFrom('instances').select('name').where('name', '=', instance)
  return toStatement(engine === 'postgres' ? record.forKeyShare() : record, 1)
}
