import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSqliteFailure } from './sqlite-failure.ts'
import { StorageError } from './statement.ts'

const withCode = (errcode: number) => Object.assign(new Error('no'), { errcode })

test('a failure of SQLite is named by its primary code', () => {
  const [busy, locked, unreadable, full, unopened] = [5, 6, 10, 13, 14]
  for (const code of [busy, locked, unreadable, full, unopened]) {
    assert.deepEqual(describeSqliteFailure(withCode(code)), { failure: 'unavailable', message: 'no' })
  }
  // SQLITE_IOERR_WRITE and SQLITE_CONSTRAINT_UNIQUE: the extended code is above the primary one.
  assert.equal(describeSqliteFailure(withCode(10 + 3 * 256)).failure, 'unavailable')
  assert.equal(describeSqliteFailure(withCode(19 + 8 * 256)).failure, 'constraint')
  assert.equal(describeSqliteFailure(withCode(1)).failure, 'failed')
})

test('another error has failed, and an error with a name keeps it', () => {
  assert.deepEqual(describeSqliteFailure(new Error('no')), { failure: 'failed', message: 'no' })
  assert.deepEqual(describeSqliteFailure('no'), { failure: 'failed', message: 'no' })
  const known = new StorageError('expectation', 'not one row')
  assert.deepEqual(describeSqliteFailure(known), { failure: 'expectation', message: known.message })
})
