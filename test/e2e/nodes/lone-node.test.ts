// A process that runs alone on PostgreSQL: no other node could answer for an instance that it does not serve yet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { migratedLocation, withoutPostgres } from '../../harness/databases.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { Service } from '../../harness/service.ts'
import { openTestConnection } from '../../harness/test-connection.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { RowLocker } from '../../storage/harness/row-locker.ts'

const options = { skip: withoutPostgres }

/** An instance that no node holds. */
async function addFree(database: Database, instance: string): Promise<void> {
  const { query } = database
  await database.write(
    query.insertInto('instances').values(sampleInstanceColumns(instance)),
    query.insertInto('assignments').values({ instance, node: null, epoch: 0, since: 0 }),
  )
}

/** Resolves when the node has seen what the database says now. */
async function nextBeats(database: Database): Promise<void> {
  const read = async () => (await database.read(database.query.selectFrom('nodes').select('beat')))[0]?.beat ?? 0
  const before = await read()
  await waitUntil('the node has beaten twice', async () => (await read()) > before + 1)
}

test(
  'it serves only when it has all its instances, also one whose row a dead process still locks',
  options,
  async () => {
    await using place = await migratedLocation('postgres')
    await using database = await openTestConnection(place.location)
    for (const instance of ['free', 'locked']) await addFree(database, instance)
    await using locker = await RowLocker.connect(place.location)
    await locker.hold(`SELECT epoch FROM assignments WHERE instance = 'locked' FOR SHARE`)
    await using service = new ServiceProcess({ DATABASE_URL: place.url })
    const attempts = () => service.allLogged('instances are placed').length
    await waitUntil('it has tried to place both again', () => attempts() > 2)
    assert.equal(service.has('service ready'), false)
    await locker.release()
    const names = ((await service.get('/api/instances')).body as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names, ['free', 'locked'])
  },
)

test('an instance that cannot be taken yet is listed as it is stored', options, async () => {
  await using service = await Service.start({ engine: 'postgres' })
  const { database, logs } = service
  // A part reads this table while it takes an instance.
  await database.write({ sql: 'ALTER TABLE restrictions RENAME TO restrictions_away', parameters: [] })
  await addFree(database, 'late')
  const failures = () => logs.withMessage('a change of the owner failed here').length
  await waitUntil('the take has failed', () => failures() > 0)
  await nextBeats(database)
  assert.deepEqual((await service.get('/api/instances')).body, [{ name: 'late', state: 'disconnected' }])
  assert.equal((await service.get('/api/instances/late/state')).status, 200)
  await database.write({ sql: 'ALTER TABLE restrictions_away RENAME TO restrictions', parameters: [] })
  await waitUntil('it is served', async () => (await service.get('/api/instances/late')).status === 200)
})
