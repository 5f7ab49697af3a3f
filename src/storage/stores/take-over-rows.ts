// Translates what a process of an earlier build stored. Such a process may go on serving after a newer build has migrated
// the database. It ends when a process of the newer build takes the lease, so the translation happens then.

import type { NodeHold } from '../../core/nodes/hold.ts'
import type { Database } from '../database.ts'
import { toStatement } from '../engine/statement.ts'
import { createFence, isUnexpected } from './fence.ts'
import { assignmentsTakenOver } from './nodes/assignment-steps.ts'

/** Each callback belongs to a destination. Of several instances that settled it, the first one counts. */
const callbacks = [
  `INSERT INTO settled_callbacks (destination, kind, event_id, outbox_id, settled_at)
   SELECT destination, kind, event_id, outbox_id, settled_at
   FROM (
     SELECT CASE WHEN destination = 'none' THEN 'none ' || instance ELSE destination END AS destination,
       kind, event_id, outbox_id, settled_at
     FROM callbacks
   ) AS renamed
   WHERE true ORDER BY settled_at, outbox_id
   ON CONFLICT DO NOTHING`,
  'DELETE FROM callbacks',
]

/** The first callbacks are read from `callbacks` before its rows are moved. */
const firstCallbacks = `
  INSERT INTO first_callbacks (destination, heard_at)
  SELECT destination, MIN(heard_at)
  FROM (
    SELECT destination, created_at AS heard_at FROM outbox
    UNION ALL SELECT destination, settled_at AS heard_at FROM callbacks
  ) AS heard
  WHERE true GROUP BY destination
  ON CONFLICT DO NOTHING`

/** What was reported becomes what the helpdesk shows. Rows that are still to be sent stay unsure. */
const reports = [
  `UPDATE outbox SET shown = 'sent'
   WHERE report = 'none' AND shown = 'unsure' AND look_at IS NULL AND status NOT IN ('pending', 'sending')`,
  `UPDATE outbox SET
     shown = CASE
       WHEN report = 'done' THEN 'told'
       WHEN report = 'asked' OR (report = 'due' AND status = 'refused') THEN 'failed'
       ELSE 'unsure' END,
     look_at = CASE WHEN report IN ('due', 'asked') THEN report_at END,
     expires_at = CASE WHEN status IN ('failed', 'expired', 'refused') AND report <> 'asked' THEN NULL ELSE expires_at END,
     report = 'none',
     report_at = NULL
   WHERE report <> 'none'`,
  `UPDATE outbox SET expires_at = NULL
   WHERE status IN ('failed', 'expired', 'refused') AND look_at IS NULL AND expires_at IS NOT NULL`,
]

/** The migration has filled in all older messages; a day covers clocks that differ. */
const chats = `
  INSERT INTO conversation_chats (destination, conversation_id, instance, chat, wrote_at, used_at)
  SELECT destination, conversation_id, instance, chat, MAX(wrote_at), MAX(used_at)
  FROM (
    SELECT destination, conversation_id, instance, chat, 0 AS wrote_at, used_at FROM conversations
    UNION ALL
    SELECT destination, conversation_id, instance, chat,
      CASE WHEN direction = 'in' THEN network_at ELSE 0 END AS wrote_at,
      CASE WHEN direction = 'in' THEN claimed_at ELSE 0 END AS used_at
    FROM message_map
    WHERE conversation_id IS NOT NULL AND direction <> 'out'
      AND claimed_at > (SELECT applied_at - 86400000 FROM schema_version WHERE version = 11)
  ) AS known
  WHERE instance IN (SELECT name FROM instances)
  GROUP BY destination, conversation_id, instance, chat
  ON CONFLICT (destination, conversation_id, instance, chat)
  DO UPDATE SET wrote_at = excluded.wrote_at, used_at = excluded.used_at
  WHERE excluded.wrote_at > conversation_chats.wrote_at`

const translations = [firstCallbacks, ...callbacks, ...reports, chats].map((sql) => ({ sql, parameters: [] }))

/** On SQLite: called once by each owner, before it serves. Does nothing when the owner before was of this build. */
export async function takeOverRows(database: Database, hold: NodeHold): Promise<void> {
  const { epoch } = hold
  const { query } = database
  const [lease] = await database.read(query.selectFrom('lease').select('taken_over_epoch').where('epoch', '=', epoch))
  const before = lease?.taken_over_epoch ?? null
  if (before === epoch) return
  if (before !== epoch - 1) {
    await database.write(createFence(database)(hold), ...translations)
  }
  // In a commit of its own: while the row of the lease is locked, the lease cannot be renewed.
  await database.write(query.updateTable('lease').set({ taken_over_epoch: epoch }).where('epoch', '=', epoch))
}

/**
 * On PostgreSQL: called by each process before it becomes a node. `epoch` is the last one of the lease. The first process
 * translates, and of two at once one does.
 */
export async function takeOverRowsOfLease(database: Database, epoch: number): Promise<void> {
  const { query } = database
  const taken = query
    .updateTable('lease')
    .set({ taken_over_epoch: epoch })
    .where('epoch', '=', epoch)
    .where((lease) => lease.or([lease('taken_over_epoch', 'is', null), lease('taken_over_epoch', '<>', epoch)]))
  try {
    await database.write(toStatement(taken, 1), ...translations)
  } catch (error) {
    // Another process has translated them.
    if (!isUnexpected(error)) throw error
  }
  // At every start: a record without an assignment would never be served.
  await database.write(...assignmentsTakenOver(database))
}
