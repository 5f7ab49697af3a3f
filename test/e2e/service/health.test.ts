import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { engines } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Health = {
  status: string
  uptime_seconds: number
  checks: { db: { ok: boolean; latency_ms: number }; workers_failed: string[]; ownership: string }
}

for (const engine of engines) {
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
      assert.deepEqual(body, {
        status: 'ok',
        version: '0.65.0',
        ts: new Date(clock.now()).toISOString(),
        uptime_seconds: 61,
        checks: {
          db: { ok: true, latency_ms: 0 },
          instances_connected: 0,
          instances_total: 2,
          outbox_pending: 0,
          inbox_pending: 0,
          inbox_parked: 0,
          destinations_held: [],
          callbacks_lost: [],
          clocks_differ: [],
          pending_logouts: 0,
          deliveries_exhausted: 0,
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

test('health is 503 and degraded when the database does not answer within 2 s, and 200 again when it does', async () => {
  const clock = new ManualClock()
  await using service = await Service.start({ clock })
  const lock = new DatabaseSync(service.databasePath)
  lock.exec('BEGIN EXCLUSIVE')
  const timers = clock.pending
  const asked = service.get('/api/health')
  await waitUntil('the ping waits for its deadline', () => clock.pending > timers)
  await clock.advance(2000)
  const { status, body } = await asked
  const health = body as Health
  assert.equal(status, 503)
  assert.equal(health.status, 'degraded')
  assert.deepEqual(health.checks.db, { ok: false, latency_ms: 2000 })
  lock.exec('ROLLBACK')
  lock.close()
  assert.equal((await service.get('/api/health')).status, 200)
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
