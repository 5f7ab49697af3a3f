// The migration of a database in which conversations forgot earlier chats, and callbacks belonged to instances.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import pg from 'pg'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { versionTable } from '../../src/storage/migrations/migration.ts'
import { engines, newLocation } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'

const desk = 'https://desk|1|1'
const before = migrations.filter(({ version }) => version < 11)

const message = (
  id: string,
  instance: string,
  chat: string,
  direction: string,
  conversation: number | null,
  at: number,
) =>
  `INSERT INTO message_map (id, instance, destination, chat, sender, network_id, kind, direction, network_key, network_at,
     conversation_id, claimed_at)
   VALUES ('${id}', '${instance}', '${desk}', '${chat}', '${chat}', 'W${id}', 'message', '${direction}', '{}', ${at},
     ${conversation ?? 'NULL'}, ${at + 5})`

const conversation = (instance: string, chat: string, id: number, usedAt: number) =>
  `INSERT INTO conversations VALUES ('${instance}', '${desk}', '${chat}', ${id}, 1, 's', ${usedAt})`

const callback = (instance: string, destination: string, eventId: number, outboxId: string, at: number) =>
  `INSERT INTO callbacks VALUES ('${instance}', '${destination}', 'message_created', ${eventId}, '${outboxId}', ${at})`

const rows = [
  ...['n0', 'n1'].map((name) => `INSERT INTO instances (name, state, created_at) VALUES ('${name}', 'ready', 1)`),
  conversation('n0', 'p1', 7, 100),
  conversation('n1', 'q1', 7, 200),
  conversation('gone', 'r1', 7, 300),
  message('1', 'n0', 'p1', 'in', 5, 10),
  message('2', 'n0', 'p1', 'in', 7, 20),
  message('3', 'n0', 'p1', 'in', 7, 30),
  message('4', 'n1', 'q1', 'echo', 6, 40),
  // An answer that went to the wrong chat says nothing about its conversation.
  message('5', 'n0', 'p2', 'out', 7, 50),
  message('6', 'n0', 'p1', 'in', null, 60),
  callback('n1', desk, 70, 'later', 2000),
  callback('n0', desk, 70, 'first', 1000),
  callback('n1', desk, 71, 'only', 3000),
  callback('n0', 'none', 72, 'a', 1),
  callback('n1', 'none', 72, 'b', 2),
]

/** A database as the build before this one left it. */
async function fillOld(location: DatabaseLocation): Promise<void> {
  const old = before.flatMap(({ version, name, [location.engine]: statements }) => [
    ...statements,
    `INSERT INTO schema_version (version, name, applied_at) VALUES (${version}, '${name}', 0)`,
  ])
  const all = [versionTable, ...old, ...rows]
  if (location.engine === 'sqlite') {
    await mkdir(dirname(location.path), { recursive: true })
    using database = new DatabaseSync(location.path)
    for (const statement of all) database.exec(statement)
    return
  }
  const client = new pg.Client({ connectionString: location.url })
  await client.connect()
  for (const statement of all) await client.query(statement)
  await client.end()
}

for (const engine of engines) {
  describe(`the migration of answers on ${engine}`, () => {
    test('earlier conversations get their chats, and each callback is settled once', async () => {
      await using place = await newLocation(engine)
      await fillOld(place.location)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      const chats = database.query.selectFrom('conversation_chats').selectAll()
      const stored = await database.read(chats.orderBy('conversation_id').orderBy('instance'))
      assert.deepEqual(
        stored.map((row) => [row.conversation_id, row.instance, row.chat, row.wrote_at, row.used_at]),
        [
          [5, 'n0', 'p1', 10, 15],
          [6, 'n1', 'q1', 0, 0],
          [7, 'n0', 'p1', 30, 100],
          [7, 'n1', 'q1', 0, 200],
        ],
      )
      const callbacks = await database.read(
        database.query.selectFrom('callbacks').selectAll().orderBy('event_id').orderBy('destination'),
      )
      const kind = 'message_created'
      assert.deepEqual(callbacks, [
        { destination: desk, kind, event_id: 70, outbox_id: 'first', settled_at: 1000 },
        { destination: desk, kind, event_id: 71, outbox_id: 'only', settled_at: 3000 },
        { destination: 'none n0', kind, event_id: 72, outbox_id: 'a', settled_at: 1 },
        { destination: 'none n1', kind, event_id: 72, outbox_id: 'b', settled_at: 2 },
      ])
      assert.deepEqual(await database.read(database.query.selectFrom('person_phones').selectAll()), [])
    })
  })
}
