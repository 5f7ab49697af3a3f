// Finds settled callbacks, and says whether a write failed because its callback was settled before.

import type { DestinationKey } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import type { StorageError } from '../../engine/statement.ts'

/** The instance is not part of the key: instances that share a helpdesk inbox may get the same callback. */
export type CallbackKey = {
  destination: DestinationKey
  kind: string
  /** The id that the helpdesk gave the message. */
  eventId: number
}

export function callbackColumns({ destination, kind, eventId }: CallbackKey) {
  return { destination, kind, event_id: eventId }
}

/** The row that settled a callback. The id is empty when the callback was settled without a row. */
export async function findSettled(database: Database, callback: CallbackKey): Promise<{ rowId: string } | undefined> {
  const query = database.query
    .selectFrom('settled_callbacks')
    .select('outbox_id')
    .where('destination', '=', callback.destination)
    .where('kind', '=', callback.kind)
    .where('event_id', '=', callback.eventId)
  const [found] = await database.read(query)
  return found && { rowId: found.outbox_id }
}

/** Whether a write failed because its callback was settled before. Any other broken constraint means that nothing is stored. */
export async function isSettled(
  database: Database,
  { failure }: StorageError,
  callback: CallbackKey | null,
): Promise<boolean> {
  return failure === 'constraint' && callback !== null && (await findSettled(database, callback)) !== undefined
}

/** Removes at most one batch of the callbacks that were settled before that time. */
export function oldCallbacks({ query }: Database, before: number) {
  const key = ['destination', 'kind', 'event_id'] as const
  const old = query.selectFrom('settled_callbacks').select(key).where('settled_at', '<', before).limit(batchSize)
  return query.deleteFrom('settled_callbacks').where((row) => row(row.refTuple(...key), 'in', old.$asTuple(...key)))
}
