// Refuses to start when a stored secret could not be opened: every session would look lost.

import { sql } from 'kysely'
import { keyPrefixLength, SecretBox } from '../lib/secret-box.ts'
import type { Database } from './database.ts'
import { secretTables } from './schema.ts'

export async function refuseUnreadableSecrets(
  database: Database,
  encryptionKeys: readonly Uint8Array[],
): Promise<void> {
  const box = new SecretBox(encryptionKeys)
  for (const { table, columns } of secretTables) {
    for (const column of columns) {
      const prefix = sql<Uint8Array>`substr(${sql.ref(column)}, 1, ${sql.lit(keyPrefixLength)})`
      // Plain values differ in their first bytes; only the marker byte in front of sealed ones matters.
      const query = database.query
        .selectFrom(sql.table(table).as('stored'))
        .select(prefix.as('prefix'))
        .distinct()
        .where(sql.ref(column), 'is not', null)
        .where(sql`substr(${sql.ref(column)}, 1, 1)`, '=', Buffer.of(1))
      const prefixes = await database.read(query)
      if (!prefixes.every(({ prefix: each }) => box.hasKeyFor(each))) {
        throw new Error(
          `SERVICE_ENCRYPTION_KEY does not open what is stored in ${table}.${column}: ` +
            'add the key it was encrypted with to the list; the first key encrypts, all of them decrypt',
        )
      }
    }
  }
}
