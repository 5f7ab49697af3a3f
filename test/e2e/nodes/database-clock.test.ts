// The stage steps the clock that the nodes ask PostgreSQL for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../../src/storage/database.ts'
import { NodeStore } from '../../../src/storage/stores/nodes/node-store.ts'
import { newDatabase, withoutPostgres } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { replaceDatabaseClock, stepDatabaseClock } from './harness/database-clock.ts'

const hourMs = 3_600_000

test('a connection that is open sees each step of the clock', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  await replaceDatabaseClock(opened.database)
  await using database = await openDatabase({ location: opened.location, encryptionKeys: [], log: silentLog })
  const nodes = new NodeStore(database)
  const hoursAhead = async () => Math.round(((await nodes.beat('')).now - Date.now()) / hourMs)
  const seen = [await hoursAhead()]
  for (const hours of [1, -1, 0]) {
    await stepDatabaseClock(opened.database, hours * hourMs)
    seen.push(await hoursAhead())
  }
  assert.equal(seen.join(), '0,1,-1,0')
})
