import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { onServer } from '../../harness/databases.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const body = { downstream_base_url: 'https://a', downstream_api_token: 't' }

test('the answer to a write without an answer of the database does not claim that nothing changed', async () => {
  await using service = await Service.start()
  const lock = new DatabaseSync(service.databasePath, { timeout: 5000 })
  lock.exec('BEGIN EXCLUSIVE')
  const answer = await service.request('PUT', '/api/tenants/a', { body })
  lock.exec('ROLLBACK')
  lock.close()
  assertRefused(answer, 'SERVICE_STORAGE_FAILED', /did not answer; look whether a change was made/)
})

test('a write that the database refused changes nothing, and the answer says so', async () => {
  await using service = await Service.start()
  await service.database.write({ sql: 'ALTER TABLE tenants RENAME TO tenants_away', parameters: [] })
  const answer = await service.request('PUT', '/api/tenants/a', { body })
  assertRefused(answer, 'SERVICE_STORAGE_FAILED', /nothing was changed/)
})

test('a service whose accounts another process has taken answers like a standby', async () => {
  await using service = await Service.start()
  await service.database.write({ sql: `UPDATE lease SET owner = 'thief', epoch = epoch + 1`, parameters: [] })
  assert.match((await service.app.ended).message, /thief owns the accounts/)
  assertRefused(await service.get('/api/tenants'), 'SERVICE_STANDBY')
  assert.equal((await service.get('/api/health')).status, 200)
  assert.deepEqual(service.logs.withMessage('request failed'), [])
})

describe('a PostgreSQL that goes away', () => {
  test('makes health 503, costs no process, and health is 200 again when it is back', async () => {
    await using service = await Service.start({ engine: 'postgres' })
    const name = new URL(service.databasePath).pathname.slice(1)
    assert.equal((await service.get('/api/health')).status, 200)
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
    let away = await service.get('/api/health')
    await waitUntil('health is 503', async () => (away = await service.get('/api/health')).status === 503)
    const { status, checks } = away.body as { status: string; checks: { db: { ok: boolean } } }
    assert.deepEqual([status, checks.db.ok], ['degraded', false])
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await waitUntil('health is 200 again', async () => (await service.get('/api/health')).status === 200)
  })
})
