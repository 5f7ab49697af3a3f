// The takeover from a process of an earlier build: what that process stored before and after the migration.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import pg from 'pg'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { openDatabase } from '../../src/storage/database.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { versionTable } from '../../src/storage/migrations/migration.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { takeOverRows, takeOverRowsOfLease } from '../../src/storage/stores/take-over-rows.ts'
import { engines, newLocation, withoutPostgres } from '../harness/databases.ts'
import { silentLog } from '../harness/logs.ts'
import { nodeHold } from '../harness/holds.ts'
import { Bystander } from '../harness/postgres-bystander.ts'

const desk = 'https://desk|1|1'
const before = migrations.filter(({ version }) => version < 10)
/** After the migration, by the clock of the machine. */
const late = Date.now() + 60_000

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
  `INSERT INTO conversations (instance, destination, chat, conversation_id, contact_id, source_id, used_at)
   VALUES ('${instance}', '${desk}', '${chat}', ${id}, 1, 's', ${usedAt})`

const callback = (instance: string, destination: string, eventId: number, outboxId: string, at: number) =>
  `INSERT INTO callbacks (instance, destination, kind, event_id, outbox_id, settled_at)
   VALUES ('${instance}', '${destination}', 'message_created', ${eventId}, '${outboxId}', ${at})`

const row = (id: string, status: string, createdAt: number) =>
  `INSERT INTO outbox (id, kind, instance, owner_tag, inbox_id, destination, chat, remote_jid, conversation_id, message_id,
     waiting, drained, expires_at, fingerprint, created_at, status, attempts, unconfirmed, parts, payload, settled_at)
   VALUES ('${id}', 'message', 'n0', '', 0, '${desk}', 'p1', 'jid', 7, 70, 0, 0, NULL, NULL, ${createdAt}, '${status}', 0, 0,
     '[]', NULL, NULL)`

const report = (id: string, report: string, reportAt: number | null, expiresAt: number | null) =>
  `UPDATE outbox SET report = '${report}', report_at = ${reportAt ?? 'NULL'}, expires_at = ${expiresAt ?? 'NULL'}
   WHERE id = '${id}'`

const stored = [
  ...['n0', 'n1'].map((name) => `INSERT INTO instances (name, state, created_at) VALUES ('${name}', 'ready', 1)`),
  "INSERT INTO lease (name, owner, epoch, expires_at) VALUES ('service', 'earlier build', 4, 0)",
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
  row('asked', 'failed', 4000),
  report('asked', 'asked', 9000, 9500),
  row('due', 'failed', 4000),
  report('due', 'due', 8000, null),
  row('given up', 'failed', 4000),
  report('given up', 'given_up', 1000, null),
  row('pending', 'pending', 4000),
  row('refused', 'refused', 4000),
  report('refused', 'due', 8000, null),
  row('sending', 'sending', 4000),
  row('sent', 'sent', 5000),
  row('told', 'expired', 4000),
  report('told', 'done', 7000, 6000),
]

/** What the process of the earlier build does while the newer one stands by. */
const storedMeanwhile = [
  row('x accepted', 'pending', late),
  callback('n0', desk, 80, 'x accepted', late),
  row('x failed', 'pending', late),
  callback('n0', desk, 81, 'x failed', late),
  `UPDATE outbox SET status = 'failed', reason = 'no', settled_at = ${late}, report = 'due', report_at = ${late}
   WHERE id = 'x failed'`,
  `UPDATE outbox SET status = 'sent', settled_at = ${late} WHERE id = 'sending'`,
  // An acceptance that came too late is taken back.
  "DELETE FROM callbacks WHERE outbox_id = 'only'",
  conversation('n0', 'p3', 9, late),
  message('7', 'n0', 'p3', 'in', 9, late),
  message('8', 'n1', 'q1', 'in', 7, late),
]

async function run(location: DatabaseLocation, statements: readonly string[]): Promise<void> {
  if (location.engine === 'sqlite') {
    await mkdir(dirname(location.path), { recursive: true })
    using database = new DatabaseSync(location.path)
    for (const statement of statements) database.exec(statement)
    return
  }
  const client = new pg.Client({ connectionString: location.url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** A database as the earlier build left it. */
function createOld(location: DatabaseLocation): Promise<void> {
  const old = before.flatMap(({ version, name, [location.engine]: statements }) => [
    ...statements,
    `INSERT INTO schema_version (version, name, applied_at) VALUES (${version}, '${name}', 0)`,
  ])
  return run(location, [versionTable, ...old, ...stored])
}

/** On PostgreSQL the first process takes the lease for good, and each later one finds the epoch of the first. */
async function takeLease(database: Database): Promise<number> {
  const leases = new LeaseStore(database)
  if (database.engine === 'postgres') {
    return (await leases.retire()) ?? (await leases.holder())?.epoch ?? assert.fail('there is no lease')
  }
  const epoch = (await leases.acquire('this build', 60_000)) ?? 0
  await leases.release('this build', epoch)
  return epoch
}

/** What a process of this build does before it serves. */
async function start(database: Database): Promise<void> {
  const epoch = await takeLease(database)
  if (database.engine === 'postgres') await takeOverRowsOfLease(database, epoch)
  else await takeOverRows(database, nodeHold(epoch))
}

async function callbacksOf(database: Database) {
  const query = database.query.selectFrom('settled_callbacks').selectAll().orderBy('event_id').orderBy('destination')
  return (await database.read(query)).map((found) => [found.destination, found.event_id, found.outbox_id])
}

async function shownOf(database: Database, ids: (id: string) => boolean) {
  const query = database.query.selectFrom('outbox').select(['id', 'shown', 'look_at', 'expires_at']).orderBy('id')
  const found = (await database.read(query)).filter(({ id }) => ids(id))
  return found.map(({ id, shown, look_at, expires_at }) => [id, shown, look_at, expires_at])
}

async function chatsOf(database: Database) {
  const chats = database.query.selectFrom('conversation_chats').selectAll()
  const found = await database.read(chats.orderBy('conversation_id').orderBy('instance'))
  return found.map((chat) => [chat.conversation_id, chat.instance, chat.chat, chat.wrote_at, chat.used_at])
}

for (const engine of engines) {
  describe(`the takeover from an earlier build on ${engine}`, () => {
    test('its conversations get their chats, its callbacks their destinations, and its reports become what is shown', async () => {
      await using place = await newLocation(engine)
      await createOld(place.location)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      await start(database)
      assert.deepEqual(await chatsOf(database), [
        [5, 'n0', 'p1', 10, 15],
        [6, 'n1', 'q1', 0, 0],
        [7, 'n0', 'p1', 30, 100],
        [7, 'n1', 'q1', 0, 200],
      ])
      assert.deepEqual(await callbacksOf(database), [
        [desk, 70, 'first'],
        [desk, 71, 'only'],
        ['none n0', 72, 'a'],
        ['none n1', 72, 'b'],
      ])
      assert.deepEqual(await shownOf(database, () => true), [
        ['asked', 'failed', 9000, 9500],
        ['due', 'unsure', 8000, null],
        ['given up', 'unsure', null, null],
        ['pending', 'unsure', null, null],
        ['refused', 'failed', 8000, null],
        ['sending', 'unsure', null, null],
        ['sent', 'sent', null, null],
        ['told', 'told', null, null],
      ])
      const first = database.query.selectFrom('first_callbacks').select('heard_at').where('destination', '=', desk)
      assert.deepEqual(await database.read(first), [{ heard_at: 1000 }])
    })

    test('the earlier build goes on storing after the migration, and the next owner knows what it stored', async () => {
      await using place = await newLocation(engine)
      await createOld(place.location)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      await run(place.location, storedMeanwhile)
      await start(database)
      assert.deepEqual((await callbacksOf(database)).slice(0, 1), [[desk, 70, 'first']])
      assert.deepEqual((await callbacksOf(database)).slice(-2), [
        [desk, 80, 'x accepted'],
        [desk, 81, 'x failed'],
      ])
      assert.ok(!(await callbacksOf(database)).some(([, , id]) => id === 'only'), 'a callback taken back stays open')
      assert.deepEqual(await shownOf(database, (id) => id.startsWith('x') || id === 'sending'), [
        ['sending', 'sent', null, null],
        ['x accepted', 'unsure', null, null],
        ['x failed', 'unsure', late, null],
      ])
      assert.deepEqual((await chatsOf(database)).slice(-2), [
        [7, 'n1', 'q1', late, late + 5],
        [9, 'n0', 'p3', late, late + 5],
      ])
    })

    test('an owner that follows an owner of its own build translates nothing', async () => {
      await using place = await newLocation(engine)
      await createOld(place.location)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      await start(database)
      const unsure = database.query.updateTable('outbox').set({ shown: 'unsure' }).where('id', '=', 'sent')
      await database.write(unsure)
      await start(database)
      assert.deepEqual(await shownOf(database, (id) => id === 'sent'), [['sent', 'unsure', null, null]])
      // On PostgreSQL no such process gets the lease any more.
      if (engine === 'postgres') return
      // A process of the earlier build that stood by has owned the accounts in between.
      await takeLease(database)
      await start(database)
      assert.deepEqual(await shownOf(database, (id) => id === 'sent'), [['sent', 'sent', null, null]])
    })

    test('a process that lost the lease translates nothing', async (context) => {
      if (engine === 'postgres') {
        context.skip('the first process takes the lease for good')
        return
      }
      await using place = await newLocation(engine)
      await createOld(place.location)
      await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
      const stale = await takeLease(database)
      await takeLease(database)
      await assert.rejects(takeOverRows(database, nodeHold(stale)), { name: 'StorageError', failure: 'expectation' })
      assert.deepEqual(await callbacksOf(database), [])
    })
  })
}

test('of two nodes that start at once one translates, and both go on', { skip: withoutPostgres }, async () => {
  await using place = await newLocation('postgres')
  await createOld(place.location)
  await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  await using bystander = await Bystander.connect(place.location)
  const epoch = await takeLease(database)
  await bystander.lock('settled_callbacks')
  const both = [takeOverRowsOfLease(database, epoch), takeOverRowsOfLease(database, epoch)]
  await bystander.blocked(2)
  await bystander.unlock()
  await Promise.all(both)
  assert.equal((await callbacksOf(database)).length, 4)
})
