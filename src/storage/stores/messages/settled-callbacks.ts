// Callbacks of the helpdesk that are settled: whatever stores one that comes twice finds out here.

import type { Database } from '../../database.ts'
import type { CallbackTable } from '../../schema/messages.ts'
import type { StorageError } from '../../engine/statement.ts'

export type CallbackKey = Omit<CallbackTable, 'outbox_id' | 'settled_at'>

/** The row a callback was settled with; an empty id when that was done without one. */
export async function findSettled(
  database: Database,
  callback: CallbackKey,
): Promise<{ outbox_id: string } | undefined> {
  const query = database.query
    .selectFrom('callbacks')
    .select('outbox_id')
    .where('instance', '=', callback.instance)
    .where('destination', '=', callback.destination)
    .where('kind', '=', callback.kind)
    .where('event_id', '=', callback.event_id)
  return (await database.read(query))[0]
}

/** Whether that is why it could not be stored. Another broken rule of the database is a failure: nobody has the message. */
export async function isSettled(
  database: Database,
  { failure }: StorageError,
  callback: CallbackKey | null,
): Promise<boolean> {
  return failure === 'constraint' && callback !== null && (await findSettled(database, callback)) !== undefined
}
