// What a message settles when it is accepted or refused: the callback of the helpdesk, or the request of a program. Finds what
// is settled, and says whether a write failed because it was settled before.

import type { DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import { compileOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import type { StorageError } from '../../engine/statement.ts'

/** How long the key of a request gives the answer to that request. */
export const requestKeyLifetimeMs = 24 * 3_600_000

/** The instance is not part of the key: instances that share a helpdesk inbox may get the same callback. */
export type CallbackKey = {
  destination: DestinationKey
  kind: string
  /** The id that the helpdesk gave the message. */
  eventId: number
}

/** The key that a program gave to its request. `fingerprint` says what was requested. */
export type RequestKey = { instance: InstanceName; requestKey: string; fingerprint: string }

export type SettledKey = CallbackKey | RequestKey

export function isRequest(key: SettledKey): key is RequestKey {
  return 'requestKey' in key
}

export function callbackColumns({ destination, kind, eventId }: CallbackKey) {
  return { destination, kind, event_id: eventId }
}

/** The row that settled a callback or a request. The id is empty when a callback was settled without a row. */
export async function findSettled(database: Database, key: SettledKey): Promise<{ rowId: string } | undefined> {
  return isRequest(key) ? findRequest(database, key) : findCallback(database, key)
}

async function findCallback(database: Database, callback: CallbackKey): Promise<{ rowId: string } | undefined> {
  const query = database.query
    .selectFrom('settled_callbacks')
    .select('outbox_id')
    .where('destination', '=', callback.destination)
    .where('kind', '=', callback.kind)
    .where('event_id', '=', callback.eventId)
  const [found] = await database.read(query)
  return found && { rowId: found.outbox_id }
}

/** The request with this key, also if something else was requested. */
export async function findRequest(
  database: Database,
  { instance, requestKey }: Pick<RequestKey, 'instance' | 'requestKey'>,
): Promise<{ rowId: string; fingerprint: string; settledAt: number } | undefined> {
  const query = database.query
    .selectFrom('request_keys')
    .select(['outbox_id as rowId', 'fingerprint', 'settled_at as settledAt'])
    .where('instance', '=', instance)
    .where('request_key', '=', requestKey)
  return (await database.read(query))[0]
}

const settledColumns = ['destination', 'kind', 'event_id', 'outbox_id', 'settled_at'] as const

/** The step that settles a callback. */
export function compileSettle({ query }: Database) {
  return compileOnce(settledColumns, (value) => query.insertInto('settled_callbacks').values(value))
}

/** The steps that settle a request. A key that is older than a day counts no more. */
export function requestSteps({ query }: Database, key: RequestKey, rowId: RowId, at: number) {
  const { instance, requestKey: request_key, fingerprint } = key
  return [
    query
      .deleteFrom('request_keys')
      .where('instance', '=', instance)
      .where('request_key', '=', request_key)
      .where('settled_at', '<=', at - requestKeyLifetimeMs),
    query.insertInto('request_keys').values({ instance, request_key, fingerprint, outbox_id: rowId, settled_at: at }),
  ]
}

/** Whether a write failed because its key was settled before. Any other broken constraint means that nothing is stored. */
export async function isSettled(
  database: Database,
  { failure }: StorageError,
  key: SettledKey | null,
): Promise<boolean> {
  return failure === 'constraint' && key !== null && (await findSettled(database, key)) !== undefined
}

/** Removes at most one batch of the callbacks that were settled before that time. */
export function oldCallbacks({ query }: Database, before: number) {
  const key = ['destination', 'kind', 'event_id'] as const
  const old = query.selectFrom('settled_callbacks').select(key).where('settled_at', '<', before).limit(batchSize)
  return query.deleteFrom('settled_callbacks').where((row) => row(row.refTuple(...key), 'in', old.$asTuple(...key)))
}
