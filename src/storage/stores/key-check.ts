// Refuses to start when a stored secret could not be opened: every session would look lost.

import { sql } from 'kysely'
import type { NodeHold } from '../../core/nodes/hold.ts'
import { keyPrefixLength, SecretBox } from '../../lib/secret-box.ts'
import { StartError } from '../../lib/start-error.ts'
import type { Database } from '../database.ts'
import { secretTables } from '../schema.ts'
import { createFence } from './fence.ts'

/** Only reads: a standby calls it while the owner may hold the write lock of SQLite. */
export async function refuseUnreadableSecrets(
  database: Database,
  encryptionKeys: readonly Uint8Array[],
): Promise<void> {
  await checkedNotes(database, new SecretBox(encryptionKeys))
}

/** Called by the owner before it serves. Checks again, because the owner before may have sealed values since the start. */
export async function noteKeys(
  database: Database,
  hold: NodeHold,
  encryptionKeys: readonly Uint8Array[],
): Promise<void> {
  const { query } = database
  const box = new SecretBox(encryptionKeys)
  const noted = await checkedNotes(database, box)
  const worthless = noted.filter((id) => !box.knows(id))
  const fresh = box.keyIds.filter((id) => !noted.includes(id))
  if (worthless.length === 0 && fresh.length === 0) return
  await database.write(
    createFence(database)(hold),
    ...worthless.map((id) => noteRemoval(database, hold, id)),
    ...fresh.map((id) =>
      query
        .insertInto('sealing_keys')
        .values({ id })
        .onConflict((known) => known.doNothing()),
    ),
  )
}

/** While another node lives, the note stays: that node may go on sealing with a key that this one does not have. */
function noteRemoval({ engine, query }: Database, { node }: NodeHold, id: string) {
  const removal = query.deleteFrom('sealing_keys').where('id', '=', id)
  if (engine === 'sqlite') return removal
  const others = query.selectFrom('nodes').select('id').where('id', '<>', node).where('state', '<>', 'dead')
  return removal.where((note) => note.not(note.exists(others)))
}

/** Returns the ids of the noted keys. Throws when a stored value needs a key that is not configured. */
async function checkedNotes(database: Database, box: SecretBox): Promise<string[]> {
  const noted = (await database.read(database.query.selectFrom('sealing_keys').select('id'))).map(({ id }) => id)
  // Values are looked at only before the first note, and when a key that may have sealed values is not configured any more.
  if (noted.length === 0 || noted.some((id) => !box.knows(id))) await refuseUnreadableValues(database, box)
  return noted
}

/** Reads every table with sealed columns. */
export async function refuseUnreadableValues(database: Database, box: SecretBox): Promise<void> {
  for (const { table, columns } of secretTables) {
    for (const column of columns) await refuseUnreadable(database, box, table, column)
  }
}

async function refuseUnreadable(database: Database, box: SecretBox, table: string, column: string): Promise<void> {
  const first = (bytes: number) => sql<Uint8Array | null>`substr(${sql.ref(column)}, 1, ${sql.lit(bytes)})`
  // Plain values differ in their first bytes and need no key: they are left out by their marker byte.
  const query = database.query
    .selectFrom(sql.table(table).as('stored'))
    .select([first(keyPrefixLength).as('prefix'), sql<number>`min(length(${sql.ref(column)}))`.as('shortest')])
    .where(sql.ref(column), 'is not', null)
    .where(first(1), 'is distinct from', Buffer.of(0))
    .groupBy(first(keyPrefixLength))
  // SQLite returns null for the first bytes of an empty value.
  const findings = (await database.read(query)).map(({ prefix, shortest }) =>
    box.inspect(prefix ?? Buffer.of(), shortest),
  )
  if (findings.includes('damaged')) {
    throw new StartError(`what is stored in ${table}.${column} is damaged: restore a backup`)
  }
  if (findings.includes('needs another key')) {
    throw new StartError(
      `SERVICE_ENCRYPTION_KEY does not open what is stored in ${table}.${column}: ` +
        'add the key it was encrypted with to the list; the first key encrypts, all of them decrypt',
    )
  }
}
