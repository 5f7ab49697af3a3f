import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingMigrations } from './migration.ts'
import type { Migration } from './migration.ts'

const migration = (version: number): Migration => ({
  ...{ version, name: `m${version}`, besides: true, sqlite: [], postgres: [] },
})
const known = [migration(1), migration(2), migration(3)]
const pending = (...applied: { version: number; besides?: number | null }[]) =>
  pendingMigrations(applied, known).map(({ version }) => version)

test('the migrations that a database lacks are run in order', () => {
  assert.deepEqual(pending(), [1, 2, 3])
  assert.deepEqual(pending({ version: 1 }, { version: 2, besides: 0 }), [3])
})

test('a database with unknown migrations is used when this build may run beside all of them', () => {
  assert.deepEqual(pending({ version: 3, besides: 1 }, { version: 4, besides: 1 }, { version: 5, besides: 1 }), [])
})

test('a database with an unknown migration beside which this build may not run is refused by the number of the newest', () => {
  const refused = /^the database has schema version 5 and this build knows 3: start the newer build again/
  assert.throws(() => pending({ version: 4, besides: 0 }, { version: 5, besides: 0 }, { version: 6, besides: 1 }), {
    name: 'StartError',
    message: refused,
  })
  // A build that stored nothing of it did not allow it.
  for (const besides of [null, undefined]) {
    assert.throws(() => pending({ version: 5, ...(besides !== undefined && { besides }) }), { message: refused })
  }
})
