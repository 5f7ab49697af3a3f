// Callbacks of the helpdesk that are settled. A store that writes a callback twice finds out here.

import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import type { StorageError } from '../../engine/statement.ts'

export type CallbackKey = {
  instance: InstanceName
  destination: DestinationKey
  kind: string
  /** The id that the helpdesk gave the message. */
  eventId: number
}

export function callbackColumns({ instance, destination, kind, eventId }: CallbackKey) {
  return { instance, destination, kind, event_id: eventId }
}

/** The row that settled a callback. The id is empty when the callback was settled without a row. */
export async function findSettled(database: Database, callback: CallbackKey): Promise<{ rowId: string } | undefined> {
  const query = database.query
    .selectFrom('callbacks')
    .select('outbox_id')
    .where('instance', '=', callback.instance)
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
