import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'

const numbered = (count: number, prefix = 'message') => Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

test('what is written while disconnected is queued and arrives in order after the reconnect', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  const texts = numbered(8)
  for (const [n, text] of texts.entries()) {
    const { status, body } = await stage.post(stage.callback(100 + n, text))
    const { status: word, queue_id, expires_at } = body as Record<string, string>
    assert.deepEqual([status, word, typeof queue_id], [202, 'queued', 'string'])
    const left = Date.parse(expires_at ?? '') - Date.now()
    assert.ok(left > 290_000 && left <= 300_000, `${left} ms`)
  }
  const again = await stage.post(stage.callback(100, texts[0] ?? ''))
  assert.deepEqual([again.status, (again.body as { reason: string }).reason], [200, 'duplicate'])
  assert.equal((await stage.outbox())['pending'], 8)
  const health = (await stage.service.get('/api/health')).body as { checks: { outbox_pending: number } }
  assert.equal(health.checks.outbox_pending, 8)
  await stage.reconnect()
  await stage.received('message 7')
  assert.deepEqual(stage.texts(), texts)
  await waitUntil('all are settled', async () => (await stage.outbox())['sent'] === 8)
  const audit = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.equal(audit.entries.filter(({ action }) => action === 'outbox.enqueue').length, 8)
})

test('of a deleted instance no series and no risk are left', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  for (let id = 1; id <= 10; id++) assert.equal((await stage.post(stage.callback(id, `never ${id}`))).status, 202)
  assert.equal((await stage.service.request('DELETE', '/api/instances/n0')).status, 200)
  const { text } = await stage.service.get('/metrics')
  assert.deepEqual(
    text.split('\n').filter((line) => line.includes('instance="n0"')),
    [],
  )
  await stage.service.request('POST', '/api/instances', { body: { name: 'n0' } })
  const risk = (await stage.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  assert.deepEqual([risk['delivery_samples'], risk['alerts'], risk['level']], [0, [], 'ok'])
})
