import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { manyHours } from '../../harness/stranger.ts'
import { World } from '../../harness/world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const day = 86_400_000

const sessionsWithKeys = async ({ read, query }: Pick<Database, 'read' | 'query'>) =>
  (await read(query.selectFrom('session_keys').select('session_id').distinct())).length

test('the keys of a deleted instance are destroyed after 30 days, without a restart', { skip: manyHours }, async () => {
  const clock = new ManualClock()
  await using world = await World.unlinked({ clock })
  const { database, app } = world.service
  const count = () => sessionsWithKeys({ read: database.read.bind(database), query: database.query })
  await world.pair('a')
  await world.service.request('DELETE', '/api/instances/a')
  const keptFor = (ms: number) =>
    database.write(database.query.updateTable('kept_sessions').set({ kept_at: clock.now() - ms }))
  await keptFor(30 * day - 1000)
  await app.workers.get('key-sweep')?.tick()
  assert.equal(await count(), 1)
  await keptFor(29 * day)
  let daysMore = 0
  await waitUntil('the keys are gone', async () => {
    // Day by day, because the next run is due a day after the last run.
    if (daysMore++ < 3) await clock.advance(day)
    return (await count()) === 0
  })
  assertRefused(await world.create({ name: 'a', resume: true }), 'SERVICE_NOTHING_TO_RESUME', /not kept/)
})

for (const engine of drawnEngines(import.meta.url)) {
  test(`an instance whose removal failed is stored again, on ${engine}`, async () => {
    await using world = await World.unlinked({ engine })
    await world.pair('a')
    const { database } = world.service
    await database.write({ sql: 'ALTER TABLE kept_sessions RENAME TO kept_away', parameters: [] })
    const failed = await world.service.request('DELETE', '/api/instances/a')
    assertRefused(failed, 'SERVICE_STORAGE_FAILED')
    // What the failed write left behind is not known; here the record itself is gone.
    await database.write({ sql: 'DELETE FROM instances', parameters: [] })
    await database.write({ sql: 'ALTER TABLE kept_away RENAME TO kept_sessions', parameters: [] })
    const { jid, paired_at } = await world.reaches('a', 'ready')
    await waitUntil('the record is stored again', async () => {
      const rows = await database.read(database.query.selectFrom('instances').select(['name', 'state', 'jid']))
      return rows.some((row) => row.name === 'a' && row.jid === jid && row.state === 'ready')
    })
    await world.restartService()
    const again = await world.reaches('a', 'ready')
    assert.deepEqual([again.jid, again.paired_at], [jid, paired_at])
  })
}

test('the record of its messages is removed although its outgoing messages could not be failed', async () => {
  await using world = await World.open()
  const { database } = world.service
  const mapped = () => database.read(database.query.selectFrom('message_map').select('instance'))
  await world.arrived(world.network.person({ phone: '5511988880001' }).text(world.phone, 'hello'))
  await waitUntil('the message is on record', async () => (await mapped()).length > 0)
  await database.write({ sql: 'ALTER TABLE outbox RENAME TO outbox_away', parameters: [] })
  assertRefused(await world.service.request('DELETE', '/api/instances/n0'), 'SERVICE_STORAGE_FAILED')
  assert.deepEqual(await mapped(), [])
  await database.write({ sql: 'ALTER TABLE outbox_away RENAME TO outbox', parameters: [] })
})
