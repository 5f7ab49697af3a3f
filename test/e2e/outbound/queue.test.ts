import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const numbered = (count: number, prefix = 'message') => Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

test('what is written while disconnected is queued and arrives in order after the reconnect', async () => {
  const clock = new ManualClock(Date.now())
  await using world = await AgentWorld.open({ clock })
  await world.disconnect()
  const texts = numbered(8)
  for (const [n, text] of texts.entries()) {
    const { status, body } = await world.post(world.callback(100 + n, text))
    const { status: word, queue_id, expires_at } = body as Record<string, string>
    assert.deepEqual([status, word, typeof queue_id], [202, 'queued', 'string'])
    assert.equal(Date.parse(expires_at ?? '') - clock.now(), 300_000)
  }
  const again = await world.post(world.callback(100, texts[0] ?? ''))
  assert.deepEqual([again.status, (again.body as { reason: string }).reason], [200, 'duplicate'])
  assert.equal((await world.outbox())['pending'], 8)
  const health = (await world.service.get('/api/health')).body as { checks: { outbox_pending: number } }
  assert.equal(health.checks.outbox_pending, 8)
  await world.reconnect()
  await waitUntil('all are settled', async () => {
    await world.passTime()
    return (await world.outbox())['sent'] === 8
  })
  assert.deepEqual(world.texts(), texts)
  const audit = (await world.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.equal(audit.entries.filter(({ action }) => action === 'outbox.enqueue').length, 8)
})

test('of a deleted instance no series and no risk are left', async () => {
  await using world = await AgentWorld.open()
  await world.disconnect()
  for (let id = 1; id <= 10; id++) assert.equal((await world.post(world.callback(id, `never ${id}`))).status, 202)
  assert.equal((await world.service.request('DELETE', '/api/instances/n0')).status, 200)
  const { text } = await world.service.get('/metrics')
  assert.deepEqual(
    text.split('\n').filter((line) => line.includes('instance="n0"')),
    [],
  )
  await world.service.request('POST', '/api/instances', { body: { name: 'n0' } })
  const risk = (await world.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  assert.deepEqual([risk['delivery_samples'], risk['alerts'], risk['level']], [0, [], 'ok'])
})
