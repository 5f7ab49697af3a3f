// The first step of a write that only the holder may do. This file alone knows how the right to write is stored.

import type { Compilable } from 'kysely'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { Hold, NodeHold } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { StorageError, toStatement } from '../engine/statement.ts'
import type { Statement } from '../engine/statement.ts'
import { leaseName } from './lease-store.ts'
import { createAssignmentFence } from './nodes/assignment-fence.ts'

export type Step = Compilable | Statement

/** A stale hold undoes the whole write. */
export type Fence = (hold: Hold | NodeHold) => Statement

/** On PostgreSQL each instance has an owner. SQLite has one process, whose lease is the right to every instance. */
export function createFence(database: Database): Fence {
  if (database.engine === 'postgres') return createAssignmentFence(database)
  const lease = database.query.selectFrom('lease').select('epoch')
  const { sql } = toStatement(lease.where('name', '=', leaseName).where('epoch', '=', 0))
  return ({ epoch }) => ({ sql, parameters: [leaseName, epoch], expect: 1 })
}

/** For a write that takes long, or that takes the right itself away: it shares its commit with no other write. */
export function unshared(fence: Fence): Fence {
  return (hold) => {
    const { sql, parameters } = fence(hold)
    return { sql, parameters, expect: 1 }
  }
}

/**
 * Rejects with a `NotHeldError` when the hold is stale. So a failed expectation is always one of the steps, and callers can tell
 * a refused instance from every other failure.
 */
export async function writeHeld(
  database: Database,
  fence: Fence,
  hold: Hold | NodeHold,
  ...steps: readonly Step[]
): Promise<number[]> {
  try {
    return await database.write(fence(hold), ...steps)
  } catch (error) {
    if (isUnexpected(error)) await assertHeld(database, fence, hold)
    throw error
  }
}

async function assertHeld(database: Database, fence: Fence, hold: Hold | NodeHold): Promise<void> {
  try {
    await database.write(fence(hold))
  } catch (error) {
    throw isUnexpected(error) ? new NotHeldError('instance' in hold ? hold.instance : undefined) : error
  }
}

/** The fence refused the write, or a step behind it touched another number of rows than it expects. */
export function isUnexpected(error: unknown): error is StorageError {
  return error instanceof StorageError && error.failure === 'expectation'
}
