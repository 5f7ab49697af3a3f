// Corrects stored times that are later than any time that could have been stored. They were stored while the clock was ahead,
// and the work behind them would wait until that time comes.

import { sql } from 'kysely'
import { longestPauseMs } from '../../core/lifecycle/delivery.ts'
import { longestLabelPauseMs } from '../../core/sync/labels.ts'
import { longestBanMs, unknownBanMs } from '../../core/instance.ts'
import type { RowScope } from '../../core/nodes/duties.ts'
import type { NodeHold } from '../../core/nodes/hold.ts'
import { waitingLifetimeMs } from '../../core/outbox.ts'
import { longestTickPauseMs } from '../../core/tick.ts'
import type { Database } from '../database.ts'
import { createFence } from './fence.ts'
import { inScope } from './row-scope.ts'

/** Clocks differ by some seconds without being wrong, and short pauses are below it. */
const toleranceMs = 60_000

/**
 * Called before the service serves, and when the clock went back. A second call changes nothing more. The clocks of two nodes may
 * differ: a node whose clock went back corrects only what belongs to its own instances.
 */
export async function correctFutureTimes(
  database: Database,
  hold: NodeHold,
  now: number,
  scope: RowScope = 'all',
): Promise<void> {
  const { query } = database
  const future = now + toleranceMs
  const latestExpiry = future + waitingLifetimeMs
  const expiry = { expires_at: now + waitingLifetimeMs }
  const isOpen = ['pending', 'sending'] as const
  const mine = inScope(scope)
  const mineByName = inScope(scope, 'name')
  // The indexes of these tables begin with the instance. Without its name all rows would be read.
  const names = query.selectFrom('instances').select('name').where(mineByName)
  await database.write(
    createFence(database)(hold),
    query
      .updateTable('outbox')
      .set(expiry)
      .where(mine)
      .where('status', 'in', isOpen)
      .where('expires_at', '>', latestExpiry),
    query
      .updateTable('outbox')
      .set(expiry)
      .where(mine)
      .where('look_at', 'is not', null)
      .where('expires_at', '>', latestExpiry),
    // The pause before a look is never longer than the age of the row, except for pauses below the tolerance.
    query
      .updateTable('outbox')
      .set({ look_at: now })
      .where(mine)
      .where('look_at', '>', future)
      .where('look_at', '>', sql<number>`CAST(${future + now} AS BIGINT) - COALESCE(settled_at, created_at)`),
    query
      .updateTable('message_map')
      .set({ tick_at: now, reported_at: now })
      .where(mine)
      .where('tick_at', '>', future + longestTickPauseMs),
    query
      .updateTable('deliveries')
      .set({
        created_at: now,
        next_at: now,
        expires_at: sql<number | null>`expires_at - created_at + CAST(${now} AS BIGINT)`,
      })
      .where(mine)
      .where('status', '=', 'pending')
      .where('created_at', '>', future),
    query
      .updateTable('deliveries')
      .set({ next_at: now })
      .where(mine)
      .where('status', '=', 'pending')
      .where('next_at', '>', future + longestPauseMs),
    // Otherwise a key would count for longer than a day.
    query.updateTable('request_keys').set({ settled_at: now }).where(mine).where('settled_at', '>', future),
    query
      .updateTable('label_agreements')
      .set({ due_at: now })
      .where('instance', 'in', names)
      .where('due_at', '>', future + longestLabelPauseMs),
    // The dashboard would show a message or a state of the future.
    query.updateTable('state_changes').set({ at: now }).where(mine).where('at', '>', future),
    query.updateTable('last_messages').set({ in_at: now }).where(mine).where('in_at', '>', future),
    query.updateTable('last_messages').set({ out_at: now }).where(mine).where('out_at', '>', future),
    query.updateTable('first_callbacks').set({ heard_at: now }).where('heard_at', '>', future),
    // The hour in which a caller gets no second text counts from there.
    query
      .updateTable('rejected_calls')
      .set({ rejected_at: now })
      .where('instance', 'in', names)
      .where('rejected_at', '>', future),
    query
      .updateTable('conversation_chats')
      .set({ import_ended_at: now })
      .where(mine)
      .where('import_ended_at', '>', future),
    query.updateTable('instances').set({ created_at: now }).where(mineByName).where('created_at', '>', future),
    // The warm-up of a number counts from there.
    query.updateTable('instances').set({ linked_at: now }).where(mineByName).where('linked_at', '>', future),
    query.updateTable('instances').set({ unlinked_at: now }).where(mineByName).where('unlinked_at', '>', future),
    query.updateTable('kept_sessions').set({ linked_at: now }).where(mineByName).where('linked_at', '>', future),
    query
      .updateTable('instances')
      .set({ retry_at: now + unknownBanMs })
      .where(mineByName)
      .where('retry_at', '>', future + longestBanMs),
  )
}
