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
