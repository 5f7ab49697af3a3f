// The migration that stores since when a number is linked, on a database of an earlier build.

import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { migratePostgres } from '../../src/storage/engine/postgres-migrate.ts'
import { migrateSqlite } from '../../src/storage/engine/sqlite-migrate.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { PendingLogoutStore } from '../../src/storage/stores/accounts/pending-logout-store.ts'
import { engines, newLocation } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'

const jid = '5511999990001@s.whatsapp.net'

const instance = (name: string, state: string, link: string) =>
  `INSERT INTO instances (name, owner_tag, state, inbox_id, events_webhook_url, events_webhook_subscribers,
     spamguard_enabled, spamguard_blocks, last_qr_msg_id, created_at, jid, paired_at)
   VALUES ('${name}', '', '${state}', 0, '', '[]', 0, 0, 0, 1, ${link})`

/** What an earlier build writes, before the migration and after it. */
const rowsOf = (name: string) => [
  instance(`linked${name}`, 'ready', `'${jid}', 5`),
  instance(`unlinked${name}`, 'logged_out', 'NULL, NULL'),
  `INSERT INTO kept_sessions (session_id, name, owner_tag, jid, kept_at) VALUES ('k${name}', 'kept', '', '${jid}', ${name})`,
  `INSERT INTO pending_logouts (session_id, instance, owner_tag, asked_at) VALUES ('p${name}', 'gone', '', ${name})`,
]

async function writeOldRows(location: DatabaseLocation): Promise<void> {
  const old = migrations.filter(({ version }) => version < 17)
  if (location.engine === 'sqlite') {
    await mkdir(dirname(location.path), { recursive: true })
    using database = new DatabaseSync(location.path)
    migrateSqlite(database, old)
    for (const row of rowsOf('1')) database.exec(row)
    return
  }
  await migratePostgres(location.url, old, { log: silentLog })
  const client = new pg.Client({ connectionString: location.url })
  await client.connect()
  for (const row of rowsOf('1')) await client.query(row)
  await client.end()
}

for (const engine of engines) {
  test(`numbers of an earlier build are linked since their pairing, and that build goes on writing, on ${engine}`, async () => {
    await using place = await newLocation(engine)
    await writeOldRows(place.location)
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    for (const sql of rowsOf('2')) await database.write({ sql, parameters: [] })
    const instances = new InstanceStore(database)
    const rows = await instances.list()
    assert.deepEqual(
      rows.map((row) => [row.name, row.linkedJid, row.linkedAt, row.unlinkedAt]),
      [
        ['linked1', jid, 5, null],
        // Without a stored link: the next login stores the time of its pairing.
        ['linked2', null, null, null],
        ['unlinked1', null, null, null],
        ['unlinked2', null, null, null],
      ],
    )
    assert.deepEqual(new Set(rows.flatMap((row) => [row.networkProxy, row.outgoingRateLimit])), new Set([null]))
    const kept = await instances.keptSessions('kept')
    assert.deepEqual(
      kept.map(({ sessionId, networkProxy, linkedAt }) => [sessionId, networkProxy, linkedAt]),
      [
        ['k2', null, null],
        ['k1', null, null],
      ],
    )
    const logouts = await new PendingLogoutStore(database).list()
    assert.deepEqual(
      logouts.map(({ sessionId, networkProxy }) => [sessionId, networkProxy]),
      [
        ['p1', null],
        ['p2', null],
      ],
    )
  })
}
