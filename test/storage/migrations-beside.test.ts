// Migrations of PostgreSQL while other processes use the database.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { migratePostgres } from '../../src/storage/engine/postgres-migrate.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import type { Migration } from '../../src/storage/migrations/migration.ts'
import type { Database } from '../../src/storage/database.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import { newDatabase, newLocation, withoutPostgres } from '../harness/databases.ts'
import { holds } from '../harness/holds.ts'
import { RecordedLog, silentLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { Bystander } from '../harness/postgres-bystander.ts'
import { waitUntil } from '../harness/wait-until.ts'

type Change = { besides?: boolean; postgres: readonly string[] }

/** The migrations of this build and one more. */
function withNext({ besides = true, postgres }: Change): Migration[] {
  return [...migrations, { version: 9000, name: 'next', besides, sqlite: [], postgres }]
}

const index = { name: 'first_callbacks_by_time', on: 'first_callbacks (heard_at)' }
const withIndex: Migration[] = [
  ...migrations,
  { version: 9000, name: 'next', besides: true, sqlite: [], postgres: [], postgresIndex: index },
]

const addColumn = 'ALTER TABLE first_callbacks ADD COLUMN more TEXT'

function urlOf({ location }: Awaited<ReturnType<typeof newDatabase>>): string {
  if (location.engine !== 'postgres') throw new Error('this is not a PostgreSQL database')
  return location.url
}

function hear(database: Database, destination: string): Promise<void> {
  return new FirstCallbackStore(database, holds.nodeHold).note(destination, 1)
}

async function isBuilt(bystander: Bystander): Promise<boolean | undefined> {
  const rows = await bystander.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('${index.name}')`)
  return rows[0]?.['indisvalid'] as boolean | undefined
}

async function newestVersion(bystander: Bystander): Promise<unknown> {
  return (await bystander.query('SELECT version, besides FROM schema_version ORDER BY version DESC LIMIT 1'))[0]
}

describe('a migration beside running processes', { skip: withoutPostgres }, () => {
  test('that must wait for a long transaction lets the writes of a running process pass', async () => {
    await using opened = await newDatabase('postgres')
    const { database, location } = opened
    await new LeaseStore(database).acquire('me', 600_000)
    await using bystander = await Bystander.connect(location)
    await bystander.use('first_callbacks')
    const logs = new RecordedLog()
    const migrated = migratePostgres(urlOf(opened), withNext({ postgres: [addColumn] }), { log: logs.log })
    // Each write waits behind the migration, which gives up after 2 s. A write itself gives up after 5 s.
    for (const destination of ['a', 'b']) {
      await bystander.blockedAtLeast(1)
      await hear(database, destination)
    }
    assert.equal(logs.withMessage('a migration waits')[0]?.['waitsFor'], 'a lock that another process holds')
    await bystander.unlock()
    await migrated
    assert.deepEqual(await newestVersion(bystander), { version: '9000', besides: 1 })
  })

  test('builds an index while others write, and builds it again when it was cut off', async () => {
    await using opened = await newDatabase('postgres')
    const { database, location } = opened
    await new LeaseStore(database).acquire('me', 600_000)
    await using bystander = await Bystander.connect(location)
    await bystander.use('first_callbacks')
    const cut = assert.rejects(migratePostgres(urlOf(opened), withIndex, { log: silentLog }), /terminat/)
    const [pid] = await bystander.blocked(1)
    await hear(database, 'a')
    await bystander.query(`SELECT pg_terminate_backend(${pid ?? 0})`)
    await cut
    assert.equal(await isBuilt(bystander), false)
    assert.notDeepEqual(await newestVersion(bystander), { version: '9000', besides: 1 })
    await bystander.unlock()
    await migratePostgres(urlOf(opened), withIndex, { log: silentLog })
    assert.equal(await isBuilt(bystander), true)
    assert.deepEqual(await newestVersion(bystander), { version: '9000', besides: 1 })
  })

  test('two processes that build the same index do not wait for each other for ever', async () => {
    await using opened = await newDatabase('postgres')
    await using bystander = await Bystander.connect(opened.location)
    await bystander.use('first_callbacks')
    const logs = new RecordedLog()
    const both = Promise.all([1, 2].map(() => migratePostgres(urlOf(opened), withIndex, { log: logs.log })))
    await bystander.blocked(1)
    const waits = () => logs.withMessage('a migration waits').map(({ waitsFor }) => waitsFor)
    await waitUntil('the other one waits', () => waits().includes('a migration of another process'))
    await bystander.unlock()
    await both
    assert.equal(await isBuilt(bystander), true)
  })

  test('a build that may run beside unknown migrations starts, and one that may not is refused', async () => {
    await using opened = await newDatabase('postgres')
    const { location } = opened
    const open = () => openDatabase({ location, encryptionKeys: [], log: silentLog })
    await migratePostgres(urlOf(opened), withNext({ postgres: [addColumn] }), { log: silentLog })
    await (await open())[Symbol.asyncDispose]()
    const incompatible = { version: 9001, name: 'after', besides: false, sqlite: [], postgres: [] }
    const known = [...withNext({ postgres: [addColumn] }), incompatible]
    await migratePostgres(urlOf(opened), known, { log: silentLog })
    await assert.rejects(open(), /schema version 9001 and this build knows/)
  })
})

describe('a migration beside which earlier builds cannot run', { skip: withoutPostgres }, () => {
  const incompatible = withNext({ besides: false, postgres: [addColumn] })

  test('waits until the owner of the accounts has ended, and names it', async () => {
    await using opened = await newDatabase('postgres')
    const leases = new LeaseStore(opened.database)
    await leases.acquire('old', 600_000)
    const logs = new RecordedLog()
    const migrated = migratePostgres(urlOf(opened), incompatible, { log: logs.log })
    const isNamed = () => logs.withMessage('a migration waits')[0]?.['waitsFor'] === 'old'
    await waitUntil('the migration waits for the owner', isNamed)
    await hear(opened.database, 'a')
    await leases.release('old', 1)
    await migrated
    await assert.rejects(hear(opened.database, 'b'), { failure: 'expectation' }, 'its writes are refused now')
    assert.equal(await leases.acquire('new', 600_000), 3)
  })

  test('gives up after a minute in which the owner renews its lease', async () => {
    await using opened = await newDatabase('postgres')
    const leases = new LeaseStore(opened.database)
    await leases.acquire('old', 600_000)
    const clock = new ManualClock()
    const seen = { isOver: false }
    const refused = assert
      .rejects(migratePostgres(urlOf(opened), incompatible, { log: silentLog, clock }), {
        name: 'StartError',
        message: /stop old, then start again$/,
      })
      .finally(() => (seen.isOver = true))
    for (let renewals = 0; !seen.isOver; renewals++) {
      await leases.renew('old', 1, 600_000 + renewals)
      await waitUntil('the migration waits or is over', () => clock.pending > 0 || seen.isOver)
      await clock.advance(2000)
    }
    await refused
    await hear(opened.database, 'a')
  })

  test('leaves the lease of a database with nodes alone, and does not wait for it', async () => {
    await using opened = await newDatabase('postgres')
    await using bystander = await Bystander.connect(opened.location)
    await new LeaseStore(opened.database).retire()
    const lease = () => bystander.query('SELECT owner, epoch, expires_at FROM lease')
    const before = await lease()
    const logs = new RecordedLog()
    await migratePostgres(urlOf(opened), incompatible, { log: logs.log })
    assert.deepEqual(await lease(), before)
    assert.deepEqual(logs.withMessage('a migration waits'), [])
  })

  test('waits for nodes that beat, and fences one that stood still', async () => {
    await using place = await newLocation('postgres')
    const postgres = [
      'CREATE SEQUENCE assignment_epoch',
      'CREATE TABLE nodes (id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, beat BIGINT NOT NULL)',
      'CREATE TABLE assignments (instance TEXT PRIMARY KEY, node TEXT, epoch BIGINT NOT NULL)',
      "INSERT INTO nodes VALUES ('n1', 'one', 'active', 1), ('n2', 'two', 'dead', 7), ('n3', 'three', 'active', 1)",
      "INSERT INTO assignments VALUES ('a', 'n1', nextval('assignment_epoch'))",
    ]
    const first = { version: 1, name: 'one', besides: true, sqlite: [], postgres }
    await migratePostgres(place.url, [first], { log: silentLog })
    await using bystander = await Bystander.connect(place.location)
    const [clock, logs] = [new ManualClock(), new RecordedLog()]
    const second = { version: 2, name: 'two', besides: false, sqlite: [], postgres: [] }
    const migrated = migratePostgres(place.url, [first, second], { log: logs.log, clock })
    const pass = async (ms: number) => {
      await waitUntil('the migration waits', () => clock.pending > 0)
      await clock.advance(ms)
    }
    await pass(500)
    await bystander.query("UPDATE nodes SET beat = beat + 1 WHERE id = 'n3'")
    await pass(5900)
    await waitUntil('only one still runs', () =>
      logs.withMessage('a migration waits').some(({ waitsFor }) => waitsFor === 'three (n3)'),
    )
    await bystander.query("UPDATE nodes SET state = 'dead' WHERE id = 'n3'")
    await pass(500)
    await migrated
    assert.deepEqual(await bystander.query('SELECT epoch FROM assignments'), [{ epoch: '2' }])
  })
})
