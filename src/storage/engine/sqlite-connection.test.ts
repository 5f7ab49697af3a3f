import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../../test/harness/databases.ts'
import { refuseOldSqlite } from './sqlite-connection.ts'

test('an SQLite that can corrupt a WAL database is refused', () => {
  for (const version of ['0', '3.9.0', '3.51.2', '3.50.10', '2.99.99']) {
    assert.throws(() => {
      refuseOldSqlite(version)
    }, /too old \(needs 3\.51\.3\)/)
  }
  for (const version of ['3.51.3', '3.51.10', '3.53.4', '4.0.0']) refuseOldSqlite(version)
})

test('the writer waits for the disk, writes ahead, and checks foreign keys', async () => {
  await using opened = await newDatabase('sqlite')
  const pragma = async (name: string) => {
    const [row] = await opened.database.writeReturning<Record<string, unknown>>({
      sql: `PRAGMA ${name}`,
      parameters: [],
    })
    return Object.values(row ?? {})[0]
  }
  // FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
  assert.equal(await pragma('synchronous'), 2)
  assert.equal(await pragma('journal_mode'), 'wal')
  assert.equal(await pragma('foreign_keys'), 1)
  assert.equal(await pragma('busy_timeout'), 5000)
  assert.equal(await pragma('journal_size_limit'), 64 * 1024 * 1024)
  assert.equal(await pragma('wal_autocheckpoint'), 4000)
})
