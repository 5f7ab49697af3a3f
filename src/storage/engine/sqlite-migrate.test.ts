import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { newLocation } from '../../../test/harness/databases.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { openDatabase } from '../database.ts'
import { migrations } from '../migrations/all.ts'
import { migrateSqlite } from './sqlite-migrate.ts'

const timeoutOf = (database: DatabaseSync) => database.prepare('SELECT timeout FROM pragma_busy_timeout').get()

test('a migration waits longer for another process than a request does', () => {
  const database = new DatabaseSync(':memory:', { timeout: 5000 })
  const sqlite = ['CREATE TABLE seen AS SELECT timeout FROM pragma_busy_timeout']
  migrateSqlite(database, [{ version: 1, name: 'one', besides: true, sqlite, postgres: [] }])
  assert.equal(database.prepare('SELECT timeout FROM seen').get()?.['timeout'], 60_000)
  assert.equal(timeoutOf(database)?.['timeout'], 5000)
})

test('a start that has nothing to migrate does not wait for the lock of another process', async () => {
  await using place = await newLocation('sqlite')
  await using opened = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
  const path = place.url.slice('file:'.length)
  using holder = new DatabaseSync(path)
  holder.exec('BEGIN IMMEDIATE')
  using starting = new DatabaseSync(path, { timeout: 100 })
  migrateSqlite(starting, migrations)
  assert.equal(opened.engine, 'sqlite')
  holder.exec('ROLLBACK')
})

test('a migration that fails leaves nothing behind and reports the error', () => {
  const database = new DatabaseSync(':memory:', { timeout: 5000 })
  const sqlite = ['CREATE TABLE half (id INTEGER)', 'NONSENSE']
  assert.throws(() => {
    migrateSqlite(database, [{ version: 1, name: 'one', besides: true, sqlite, postgres: [] }])
  }, /NONSENSE/)
  assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all(), [])
  assert.equal(database.isTransaction, false)
})

test('a failure that ended the transaction itself is still the one that is reported', () => {
  const database = new DatabaseSync(':memory:', { timeout: 5000 })
  const sqlite = ['ROLLBACK', 'NONSENSE']
  assert.throws(() => {
    migrateSqlite(database, [{ version: 1, name: 'one', besides: true, sqlite, postgres: [] }])
  }, /NONSENSE/)
})

const lease = 'CREATE TABLE lease (name TEXT, owner TEXT, epoch BIGINT, expires_at BIGINT)'
const leaseOf = (owner: string) => `INSERT INTO lease VALUES ('service', '${owner}', 4, ${Date.now() + 3_600_000})`

/** A database with a lease, and a migration beside which the owner of the lease cannot run. */
function besideAnOwner() {
  const database = new DatabaseSync(':memory:')
  const first = { version: 1, name: 'one', besides: true, sqlite: [lease, leaseOf('old')], postgres: [] as string[] }
  migrateSqlite(database, [first])
  const known = [
    first,
    { ...first, version: 2, name: 'two', besides: false, sqlite: ['CREATE TABLE two (id INTEGER)'] },
  ]
  const leaseNow = () => database.prepare('SELECT epoch, expires_at FROM lease').get()
  return { database, known, leaseNow }
}

test('a migration beside which an earlier build cannot run waits until that build has given the lease back', () => {
  const { database, known, leaseNow } = besideAnOwner()
  let nowMs = 0
  const pause = (ms: number) => {
    nowMs += ms
    assert.equal(database.isTransaction, false, 'the owner can write')
    const renewed = nowMs < 20_000 ? `expires_at + 1` : '0'
    database.exec(`UPDATE lease SET expires_at = ${renewed}`)
  }
  migrateSqlite(database, known, { monotonic: () => nowMs, pause })
  assert.equal(nowMs, 20_000)
  assert.deepEqual({ ...leaseNow() }, { epoch: 5, expires_at: 0 })
  const stored = database.prepare('SELECT version, besides FROM schema_version ORDER BY version').all()
  assert.deepEqual(
    stored.map(({ version, besides }) => [version, besides]),
    [
      [1, 1],
      [2, 0],
    ],
  )
})

test('an owner that stood still is waited for until it has given no sign for six seconds, and cannot write afterwards', () => {
  const { database, known, leaseNow } = besideAnOwner()
  let nowMs = 0
  migrateSqlite(database, known, { monotonic: () => nowMs, pause: (ms) => (nowMs += ms) })
  assert.equal(nowMs, 6000)
  assert.equal(leaseNow()?.['epoch'], 5)
})

test('a migration that concerns only PostgreSQL waits for no earlier build', () => {
  const { database, known, leaseNow } = besideAnOwner()
  const before = { ...leaseNow() }
  const pause = () => assert.fail('it waits')
  migrateSqlite(
    database,
    known.map((migration) => (migration.besides ? migration : { ...migration, sqlite: [] })),
    { monotonic: () => 0, pause },
  )
  assert.deepEqual({ ...leaseNow() }, before)
})

test('the table of an earlier build learns which migrations it was possible to run beside', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(
    'CREATE TABLE schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
  )
  database.exec("INSERT INTO schema_version VALUES (1, 'one', 0)")
  const one = { version: 1, name: 'one', besides: true, sqlite: [], postgres: [] as string[] }
  migrateSqlite(database, [one, { ...one, version: 2, name: 'two' }])
  const stored = database.prepare('SELECT version, besides FROM schema_version ORDER BY version').all()
  assert.deepEqual(
    stored.map(({ besides }) => besides),
    [null, 1],
  )
})
