// Assignments in a database that an earlier build has written, or that comes from a dump.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../../src/storage/database.ts'
import { migratePostgres } from '../../../src/storage/engine/postgres-migrate.ts'
import { migrations } from '../../../src/storage/migrations/all.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { AssignmentStore } from '../../../src/storage/stores/nodes/assignment-store.ts'
import { RestoredStore } from '../../../src/storage/stores/restored-store.ts'
import { takeOverRowsOfLease } from '../../../src/storage/stores/take-over-rows.ts'
import { newDatabase, newLocation, withoutPostgres } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { joinedAt, NodeStage } from '../harness/node-stage.ts'

const at = joinedAt + 60_000
const instance = (name: string) => `INSERT INTO instances (name, state, created_at) VALUES ('${name}', 'ready', 1)`

describe('a database of an earlier build', { skip: withoutPostgres }, () => {
  test('after the migration every instance has an assignment of its own epoch and no owner', async () => {
    await using place = await newLocation('postgres')
    await migratePostgres(
      place.url,
      migrations.filter(({ version }) => version < 32),
      { log: silentLog },
    )
    const client = new pg.Client(place.url)
    await client.connect()
    for (const name of ['x', 'y']) await client.query(instance(name))
    await client.end()
    await using database = await openDatabase({ location: place.location, encryptionKeys: [], log: silentLog })
    const found = await new AssignmentStore(database).free()
    assert.deepEqual(
      found.map(({ instance, node, epoch, crashes }) => [instance, node, epoch, crashes]),
      [
        ['x', null, 1, 0],
        ['y', null, 2, 0],
      ],
    )
    assert.ok(Math.abs((found[0]?.since ?? 0) - Date.now()) < 3_600_000)
  })

  test('what it created and deleted after the migration is found at the takeover', async () => {
    await using opened = await newDatabase('postgres')
    const { database } = opened
    const run = (sql: string) => database.write({ sql, parameters: [] })
    for (const name of ['kept', 'created']) await run(instance(name))
    await run(
      `INSERT INTO assignments (instance, node, epoch, since) VALUES ('kept', 'a', 5, 1), ('deleted', 'a', 6, 1)`,
    )
    await takeOverRowsOfLease(database, (await new LeaseStore(database).retire()) ?? 0)
    const found = await new AssignmentStore(database).all()
    assert.deepEqual(
      found.map(({ instance, node }) => [instance, node]),
      [
        ['created', null],
        ['kept', 'a'],
      ],
    )
    assert.equal(found[1]?.epoch, 5)
  })
})

test(
  'a restored database has no node and no owner, and refuses the holds of before',
  { skip: withoutPostgres },
  async () => {
    await using stage = await NodeStage.open('a', 'b', 'c')
    const { database, assignments, nodes } = stage
    const hold = await stage.create('x', 'a')
    await stage.create('y', 'b')
    await stage.assignments.quarantine(await stage.create('bad', 'a'), at)
    await assignments.wish([{ instance: 'x', from: 'a', to: 'b', askedAt: at }])
    await nodes.bury(await stage.seen('b'), [], at)
    await new LeaseStore(database).retire()
    await database.write(database.query.updateTable('lease').set({ backup_at: at }))
    await new RestoredStore(database).prepare(at + 1)
    assert.equal(await stage.mayWrite(hold), false)
    assert.equal((await nodes.beat('a')).mine, null)
    for (const table of ['nodes', 'node_versions', 'moves']) {
      assert.deepEqual(await stage.bystander.query(`SELECT 1 FROM ${table}`), [], table)
    }
    assert.deepEqual(
      (await assignments.all()).map(({ instance, node, since, crashes, crashedAt, quarantinedAt }) => {
        return [instance, node, since, crashes, crashedAt, quarantinedAt]
      }),
      [
        ['bad', null, at + 1, 0, null, at],
        ['x', null, at + 1, 0, null, null],
        ['y', null, at + 1, 0, null, null],
      ],
    )
  },
)
