import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import pg from 'pg'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { migratePostgres } from '../../src/storage/engine/postgres-migrate.ts'
import { migrateSqlite } from '../../src/storage/engine/sqlite-migrate.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import type { Database, EngineName } from '../../src/storage/database.ts'
import { destinationTables } from '../../src/storage/schema.ts'
import { DestinationStore } from '../../src/storage/stores/accounts/destination-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import { MessageMapStore } from '../../src/storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import { engines, newDatabase, newLocation, withoutPostgres } from '../harness/databases.ts'
import { openOwnDatabase } from '../harness/lease-holds.ts'
import { silentLog } from '../harness/logs.ts'
import { Bystander } from '../harness/postgres-bystander.ts'
import { holdOf, holds, nodeHold } from '../harness/holds.ts'

const one = 'https://one|1|1'
const two = 'https://two|1|1'

const maria = { sourceId: '5511988887777', contactId: 7, ours: true, name: 'Maria' }
const conversation = (id: number) => ({ conversationId: id, contactId: 7, sourceId: maria.sourceId })
const chat = (destination: string) => ({ instance: 'a', destination, chat: 'p1' })

function claimOf(id: string, networkId: string, destination: string) {
  const networkKey = { chat: '5511988887777@s.whatsapp.net', id: networkId, fromMe: false, participant: null }
  const identity = { instance: 'a', destination, chat: 'p1', sender: 'p1', networkId, kind: 'message' }
  const posting = { conversationId: 12, since: 1000, after: 40 }
  return { ...identity, id, direction: 'in' as const, networkKey, networkAt: 5, content: { text: 'hello' }, posting }
}

/** Every table with a column `destination`, and the columns of each unique index with that column. */
async function tablesOfSchema(database: Database): Promise<{ table: string; name: string | null; column: string }[]> {
  const sqlite = `
    SELECT t.name AS "table", i.name AS name, coalesce(c.name, 'destination') AS "column"
    FROM sqlite_master t JOIN pragma_table_info(t.name) d ON d.name = 'destination'
    LEFT JOIN pragma_index_list(t.name) i ON i."unique" = 1
    LEFT JOIN pragma_index_info(i.name) c WHERE t.type = 'table'`
  const postgres = `
    SELECT t.relname AS "table", i.indexrelid::text AS name, coalesce(c.attname, 'destination') AS "column"
    FROM pg_class t JOIN pg_attribute d ON d.attrelid = t.oid AND d.attname = 'destination'
    LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisunique
    LEFT JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum = ANY(i.indkey) WHERE t.relkind = 'r'`
  return database.writeReturning({ sql: database.engine === 'sqlite' ? sqlite : postgres, parameters: [] })
}

async function setUp(engine: EngineName) {
  await using stack = new AsyncDisposableStack()
  const { database, location } = stack.use(await newDatabase(engine))
  await new LeaseStore(database).acquire('me', 60_000)
  const owned = stack.move()
  return {
    database,
    location,
    store: new DestinationStore(database, holds.nodeHold),
    contacts: new ContactStore(database),
    map: new MessageMapStore(database),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

for (const engine of engines) {
  describe(`destinations on ${engine}`, () => {
    test('the first identifier of a place keeps its key; a new place of that identifier gets the same key', async () => {
      await using bed = await setUp(engine)
      assert.equal(await bed.store.keyAt(one), one)
      assert.deepEqual(await bed.store.identify(one, 'X'), { key: one, before: one, movedTo: null })
      assert.equal((await bed.store.identify(two, 'X')).key, one)
      assert.equal(await bed.store.keyAt(two), one)
    })

    test('another identifier at the same place is another destination, and the first one is found again', async () => {
      await using bed = await setUp(engine)
      await bed.store.identify(one, 'X')
      await bed.contacts.saveContact(holdOf('a'), one, maria)
      const { key } = await bed.store.identify(one, 'Y')
      assert.notEqual(key, one)
      assert.equal(await bed.store.keyAt(one), key)
      assert.deepEqual(await bed.contacts.findContacts(key, [maria.sourceId]), [])
      assert.equal((await bed.store.identify(one, 'X')).key, one)
      assert.equal((await bed.contacts.findContacts(one, [maria.sourceId])).length, 1)
      assert.equal((await bed.store.identify(one, 'Y')).key, key)
    })

    test('rows of a place that turns out to be a known inbox are moved; where both have one, the known one stays', async () => {
      await using bed = await setUp(engine)
      const { store, contacts, map } = bed
      await store.identify(one, 'X')
      await contacts.saveContact(holdOf('a'), one, maria)
      await contacts.saveContact(holdOf('a'), two, { ...maria, name: 'another Maria' })
      await contacts.saveContact(holdOf('a'), two, { ...maria, sourceId: 'lid-9' })
      await contacts.saveConversation(holdOf('a'), chat(two), conversation(12), 1)
      await map.claim(holdOf('a'), claimOf('01', 'W1', one), 'W1')
      await map.claim(holdOf('a'), claimOf('02', 'W1', two), 'W1')
      await map.claim(holdOf('a'), claimOf('03', 'W2', two), 'W2')
      assert.deepEqual(await store.identify(two, 'X'), { key: one, before: two, movedTo: one })

      const names = (await contacts.findContacts(one, [maria.sourceId, 'lid-9'])).map(({ name }) => name)
      assert.deepEqual(names.sort(), ['Maria', 'Maria'])
      assert.deepEqual(await contacts.findConversation(chat(one)), conversation(12))
      const rows = [...(await map.findByNetworkId('a', ['W1'])), ...(await map.findByNetworkId('a', ['W2']))]
      assert.deepEqual(
        rows.map(({ id, destination }) => [id, destination]),
        [
          ['01', one],
          ['03', one],
        ],
      )
    })

    for (const [ofOne, ofTwo] of [
      [1000, 2000],
      [2000, 1000],
    ] as const) {
      test(`of first callbacks at ${ofOne} and ${ofTwo} the earlier one stays`, async () => {
        await using bed = await setUp(engine)
        const callbacks = new FirstCallbackStore(bed.database, holds.nodeHold)
        await callbacks.note(one, ofOne)
        await callbacks.note(two, ofTwo)
        await bed.store.identify(one, 'X')
        await bed.store.identify(two, 'X')
        assert.deepEqual([await callbacks.find(one), await callbacks.find(two)], [1000, undefined])
      })
    }

    test('rows of a place that has another helpdesk inbox by now stay with the one before', async () => {
      await using bed = await setUp(engine)
      await bed.store.identify(one, 'X')
      await bed.store.identify(two, 'X')
      await bed.contacts.saveConversation(holdOf('a'), chat(two), conversation(12), 1)
      const { key } = await bed.store.identify(two, 'Y')
      assert.ok(key !== one && key !== two)
      assert.deepEqual(await bed.contacts.findConversation(chat(one)), conversation(12))
      assert.equal(await bed.contacts.findConversation(chat(key)), undefined)
    })

    test('rows that are stored under the place after the move are moved at the next identification', async () => {
      await using bed = await setUp(engine)
      await bed.store.identify(one, 'X')
      await bed.store.identify(two, 'X')
      await bed.contacts.saveConversation(holdOf('a'), chat(two), conversation(12), 1)
      await bed.store.identify(two, 'X')
      assert.deepEqual(await bed.contacts.findConversation(chat(one)), conversation(12))
      assert.equal(await bed.contacts.findConversation(chat(two)), undefined)
    })

    test('more messages than one batch are moved', async () => {
      await using bed = await setUp(engine)
      await bed.store.identify(one, 'X')
      const rows = Array.from({ length: 2100 }, (_, n) => ({
        ...{ id: `m${n}`, instance: 'a', destination: two, chat: 'p1', sender: 'p1', network_id: `W${n}` },
        ...{ kind: 'message', direction: 'in' as const, network_key: '{}', network_at: 1, claimed_at: 1 },
      }))
      const { query } = bed.database
      for (let at = 0; at < rows.length; at += 700) {
        await bed.database.write(query.insertInto('message_map').values(rows.slice(at, at + 700)))
      }
      await bed.store.identify(two, 'X')
      const left = await bed.database.read(query.selectFrom('message_map').select('id').where('destination', '=', two))
      assert.equal(left.length, 0)
      const all = await bed.database.read(query.selectFrom('message_map').select('id').where('destination', '=', one))
      assert.equal(all.length, 2100)
    })

    test('a process that lost the lease binds nothing and moves nothing', async () => {
      await using bed = await setUp(engine)
      await bed.store.identify(one, 'X')
      await bed.contacts.saveConversation(holdOf('a'), chat(two), conversation(12), 1)
      const stale = new DestinationStore(bed.database, () => nodeHold(0))
      await assert.rejects(stale.identify(two, 'X'), { name: 'StorageError', failure: 'expectation' })
      await assert.rejects(stale.identify(two, 'Z'), { name: 'StorageError', failure: 'expectation' })
      assert.equal(await bed.store.keyAt(two), two)
      assert.deepEqual(await bed.contacts.findConversation(chat(two)), conversation(12))
    })

    test('the move covers every table with a destination, with its unique columns', async () => {
      await using opened = await newDatabase(engine)
      const found = Map.groupBy(await tablesOfSchema(opened.database), ({ table }) => table)
      // Only earlier builds use this table.
      found.delete('callbacks')
      const unique = [...found].map(([table, rows]) => {
        const indexes = Map.groupBy(rows, ({ name }) => name).values()
        const columns = [...indexes].map((index) => index.map(({ column }) => column))
        const others = columns.filter((index) => index.includes('destination'))
        return [table, others.map((index) => index.filter((column) => column !== 'destination').sort())]
      })
      const expected = Object.entries<readonly string[] | null>(destinationTables).map(([table, columns]) => [
        table,
        columns === null ? [] : [columns.toSorted()],
      ])
      assert.deepEqual(Object.fromEntries(unique), Object.fromEntries(expected))
    })

    test('a database from before identifiers keeps its rows', async () => {
      await using place = await newLocation(engine)
      await writeOldRows(place.location)
      await using database = await openOwnDatabase(place.location)
      await new LeaseStore(database).acquire('me', 60_000)
      const store = new DestinationStore(database, holds.nodeHold)
      assert.equal((await store.identify(one, 'X')).key, one)
      assert.equal((await store.identify(two, 'X')).key, one)
      const contacts = new ContactStore(database)
      assert.deepEqual(await contacts.findConversation(chat(one)), conversation(12))
      const { query } = database
      const rows = await database.read(query.selectFrom('outbox').select(['id', 'destination']).orderBy('id'))
      assert.deepEqual(rows, [
        { id: 'o1', destination: one },
        { id: 'o2', destination: one },
      ])
    })
  })
}

test('a row that another commit stores during the move is not lost', { skip: withoutPostgres }, async () => {
  await using bed = await setUp('postgres')
  const { store, contacts, database, location } = bed
  await store.identify(one, 'X')
  const run = (sql: string) => database.write({ sql, parameters: [] })
  await run(`CREATE FUNCTION wait_there() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`)
  await run('CREATE TRIGGER slow AFTER UPDATE ON contacts FOR EACH STATEMENT EXECUTE FUNCTION wait_there()')
  await using bystander = await Bystander.connect(location)
  await bystander.query('SELECT pg_advisory_lock(7)')
  const moving = store.identify(two, 'X')
  await bystander.blocked(1)
  const row = { destination: two, source_id: maria.sourceId, contact_id: 7, ours: 1, name: 'Maria' }
  await database.write(database.query.insertInto('contacts').values(row))
  await bystander.query('SELECT pg_advisory_unlock(7)')
  await moving
  assert.equal((await contacts.findContacts(two, [maria.sourceId])).length, 1)
  await store.identify(two, 'X')
  assert.equal((await contacts.findContacts(one, [maria.sourceId])).length, 1)
})

/** The tables as they were before destinations had identifiers, with a conversation and rows at two places. */
async function writeOldRows(location: DatabaseLocation): Promise<void> {
  const old = migrations.filter(({ version }) => version < 10)
  const outbox = (id: string, place: string) =>
    `INSERT INTO outbox (id, kind, instance, owner_tag, inbox_id, destination, chat, remote_jid, status, waiting, drained, created_at)
     VALUES ('${id}', 'message', 'a', '', 0, '${place}', 'p1', 'x', 'sent', 0, 0, 1)`
  const rows = [
    `INSERT INTO conversations (instance, destination, chat, conversation_id, contact_id, source_id, used_at)
     VALUES ('a', '${one}', 'p1', 12, 7, '${maria.sourceId}', 1)`,
    outbox('o1', one),
    outbox('o2', two),
  ]
  if (location.engine === 'sqlite') {
    await mkdir(dirname(location.path), { recursive: true })
    using database = new DatabaseSync(location.path)
    migrateSqlite(database, old)
    for (const row of rows) database.exec(row)
    return
  }
  await migratePostgres(location.url, old, { log: silentLog })
  const client = new pg.Client({ connectionString: location.url })
  await client.connect()
  for (const row of rows) await client.query(row)
  await client.end()
}
