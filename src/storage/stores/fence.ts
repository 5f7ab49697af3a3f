// The first step of a write that only the holder may do. This file alone knows how the right to write is stored.

import { NotHeldError } from '../../core/nodes/hold.ts'
import type { Hold, NodeHold } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { StorageError, toStatement } from '../engine/statement.ts'
import type { Statement } from '../engine/statement.ts'
import { leaseName } from './lease-store.ts'

/** A stale hold undoes the whole write. */
export type Fence = (hold: Hold | NodeHold) => Statement

export function createFence({ query, engine }: Database): Fence {
  const check = query.selectFrom('lease').select('epoch').where('name', '=', leaseName).where('epoch', '=', 0)
  // On PostgreSQL the row stays locked until commit, so that no process takes over between check and write. A key share
  // lock blocks taking the lease (FOR UPDATE) but not renewing it: slow writes must not cost their own lease.
  const { sql } = toStatement(engine === 'postgres' ? check.forKeyShare() : check)
  return ({ epoch }) => ({ sql, parameters: [leaseName, epoch], expect: 1 })
}

/**
 * Rejects with a `NotHeldError` when the hold is stale. For the time after a write whose expectation failed: it may have been
 * the fence.
 */
export async function assertHeld(database: Database, hold: Hold): Promise<void> {
  try {
    await database.write(createFence(database)(hold))
  } catch (error) {
    throw isUnexpected(error) ? new NotHeldError(hold.instance) : error
  }
}

/** The fence refused the write, or a step behind it touched another number of rows than it expects. */
export function isUnexpected(error: unknown): error is StorageError {
  return error instanceof StorageError && error.failure === 'expectation'
}
