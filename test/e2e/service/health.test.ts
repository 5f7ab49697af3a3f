import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { newLocation, withoutPostgres } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Bystander } from '../../harness/postgres-bystander.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { packageVersion } from '../../harness/package-version.ts'

type Health = {
  status: string
  uptime_seconds: number
  checks: { db: { ok: boolean; latency_ms: number; age_ms: number }; workers_failed: string[]; ownership: string }
}

async function seedInstance(database: Database): Promise<void> {
  await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`health on ${engine}`, () => {
    test('tells status, version, uptime, database and instances', async () => {
      const clock = new ManualClock()
      await using service = await Service.start({
        engine,
        clock,
        seed: async (database) => {
          const rows = [
            sampleInstanceColumns('a', { state: 'qr_pending' }),
            sampleInstanceColumns('b', { state: 'logged_out', lastJid: '5511999@s.whatsapp.net' }),
          ]
          await database.write(database.query.insertInto('instances').values(rows))
        },
      })
      await clock.advance(61_500)
      const { status, body } = await service.get('/api/health')
      assert.equal(status, 200)
      const { db } = (body as Health).checks
      assert.ok(db.latency_ms < 2000 && db.age_ms < 5000, JSON.stringify(db))
      assert.deepEqual(body, {
        status: 'ok',
        version: packageVersion,
        ts: new Date(clock.now()).toISOString(),
        uptime_seconds: 61,
        checks: {
          db: { ...db, ok: true },
          instances_connected: 0,
          instances_total: 2,
          outbox_pending: 0,
          inbox_pending: 0,
          inbox_parked: 0,
          destinations_held: [],
          callbacks_lost: [],
          clocks_differ: [],
          callbacks_refused: [],
          network_unreachable: [],
          pending_logouts: 0,
          deliveries_exhausted: 0,
          setup: [],
          network_version: { current: '2.3000.1', worked: null, pinned: true, refused: false, asked_at: null },
          workers_failed: [],
          ownership: 'held',
        },
        instances: [
          { name: 'a', state: 'disconnected', jid: null },
          { name: 'b', state: 'logged_out', jid: null },
        ],
      })
    })
  })
}

test('health is 503 and degraded when the database does not answer for 2 s, and 200 again when it does', async () => {
  await using service = await Service.start()
  const lock = new DatabaseSync(service.databasePath, { timeout: 5000 })
  lock.exec('BEGIN EXCLUSIVE')
  let seen = await service.get('/api/health')
  await waitUntil('health is 503', async () => (seen = await service.get('/api/health')).status === 503)
  const health = seen.body as Health
  assert.equal(health.status, 'degraded')
  assert.equal(health.checks.db.ok, false)
  assert.ok(health.checks.db.age_ms >= 2000, JSON.stringify(health.checks.db))
  lock.exec('ROLLBACK')
  lock.close()
  await waitUntil('health is 200 again', async () => (await service.get('/api/health')).status === 200)
})

describe('health answers at once', () => {
  /** Far less than the time after which the database gives up a wait for a lock. */
  const atOnceMs = 2000
  const askAtOnce = async (service: Service) => {
    const askedAt = performance.now()
    const { status } = await service.get('/api/health')
    const tookMs = performance.now() - askedAt
    assert.ok(tookMs < atOnceMs, `took ${tookMs} ms`)
    return status
  }

  test(
    'while the outbox is locked and every connection of the pool waits for it',
    { skip: withoutPostgres },
    async () => {
      await using place = await newLocation('postgres')
      await using service = await Service.start({ place, seed: seedInstance })
      await using bystander = await Bystander.connect(place.location)
      await bystander.lock('outbox')
      assert.equal(await askAtOnce(service), 200)
      const totals = Array.from({ length: 20 }, () => service.get('/api/instances/a/outbox'))
      await bystander.blockedAtLeast(2)
      assert.equal(await askAtOnce(service), 200)
      await bystander.unlock()
      await Promise.all(totals)
    },
  )

  test('while another process keeps SQLite from writing', async () => {
    await using service = await Service.start({ seed: seedInstance })
    const lock = new DatabaseSync(service.databasePath, { timeout: 5000 })
    lock.exec('BEGIN EXCLUSIVE')
    for (let asked = 0; asked < 20; asked++) await askAtOnce(service)
    lock.exec('ROLLBACK')
    lock.close()
  })
})

test('a failed worker makes health degraded by name, the others go on, and it recovers', async () => {
  await using service = await Service.start()
  await service.database.write({ sql: 'ALTER TABLE usage RENAME TO usage_away', parameters: [] })
  service.app.usage.count('a', '', 'messages_in')
  await service.app.workers.get('usage-flush')?.tick()
  const broken = await service.get('/api/health')
  assert.equal(broken.status, 200)
  assert.equal((broken.body as Health).status, 'degraded')
  assert.deepEqual((broken.body as Health).checks.workers_failed, ['usage-flush'])
  assert.equal(service.logs.withMessage('worker run failed').length, 1)

  await service.database.write({ sql: 'ALTER TABLE usage_away RENAME TO usage', parameters: [] })
  await service.app.workers.get('usage-flush')?.tick()
  assert.equal(((await service.get('/api/health')).body as Health).status, 'ok')
  const { body } = await service.get('/api/usage')
  assert.equal((body as { rows: { messages_in: number }[] }).rows[0]?.messages_in, 1, 'what was counted is not lost')
})
