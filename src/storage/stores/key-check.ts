// Refuses to start when a stored secret could not be opened: every session would look lost.

import { sql } from 'kysely'
import { keyPrefixLength, SecretBox } from '../../lib/secret-box.ts'
import type { Database } from '../database.ts'
import { secretTables } from '../schema.ts'

export async function refuseUnreadableSecrets(
  database: Database,
  encryptionKeys: readonly Uint8Array[],
): Promise<void> {
  const { query } = database
  const box = new SecretBox(encryptionKeys)
  const noted = (await database.read(query.selectFrom('sealing_keys').select('id'))).map(({ id }) => id)
  const missing = noted.filter((id) => !box.knows(id))
  // Values are looked at only before the first note, and when a key that may have sealed values is not configured any more.
  if (noted.length === 0 || missing.length > 0) await refuseUnreadableValues(database, box)
  if (missing.length > 0) await database.write(query.deleteFrom('sealing_keys').where('id', 'in', missing))
  const { sealingKeyId: id } = box
  if (noted.includes(id)) return
  const note = query.insertInto('sealing_keys').values({ id })
  await database.write(note.onConflict((known) => known.doNothing()))
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
    throw new Error(`what is stored in ${table}.${column} is damaged: restore a backup`)
  }
  if (findings.includes('needs another key')) {
    throw new Error(
      `SERVICE_ENCRYPTION_KEY does not open what is stored in ${table}.${column}: ` +
        'add the key it was encrypted with to the list; the first key encrypts, all of them decrypt',
    )
  }
}
