import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
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

test('the drain keeps its rate, and a fresh message to somebody else does not wait for it', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_DRAIN_RATE: '2' } })
  const eve = stage.network.person({ phone: '5511888880002', pushName: 'Eve' })
  await stage.disconnect()
  for (const [n, text] of numbered(4).entries()) await stage.post(stage.callback(100 + n, text))
  await stage.reconnect()
  await stage.received('message 0')
  const started = performance.now()
  const sender = { identifier: `${eve.user.phone}@s.whatsapp.net` }
  const conversation = { id: 99, inbox_id: 1, meta: { sender } }
  assert.equal((await stage.post(stage.callback(200, 'fresh', { conversation }))).status, 200)
  await stage.received('fresh', eve)
  assert.ok(!stage.texts().includes('message 3'), 'the queue is still being drained')
  const behind = stage.post(stage.callback(201, 'message 4'))
  await stage.received('message 3')
  const took = performance.now() - started
  assert.ok(took > 900, `3 more at 2 per second took only ${took} ms`)
  assert.ok((await behind).status < 300)
  await stage.received('message 4')
  assert.deepEqual(stage.texts(), numbered(5), 'its own chat keeps its order')
})

test('after a reconnect the first leaves at once, the next at the rate of the drain', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_DRAIN_RATE: '1' } })
  await stage.disconnect()
  for (const [n, text] of numbered(2).entries()) await stage.post(stage.callback(100 + n, text))
  await stage.reconnect()
  const ready = performance.now()
  await stage.received('message 0')
  const first = performance.now()
  await stage.received('message 1')
  assert.ok(first - ready < 2000, `the first took ${first - ready} ms`)
  assert.ok(performance.now() - first > 600, `the second took only ${performance.now() - first} ms more`)
})

test('the 201st that would have to wait is refused, and may come again; another instance notices nothing', async () => {
  await using stage = await OutboundStage.open({ accounts: 2, environment: { SERVICE_DRAIN_RATE: '0' } })
  await stage.disconnect()
  for (let n = 0; n < 200; n += 20) {
    const batch = Array.from({ length: 20 }, (_, i) => stage.post(stage.callback(1000 + n + i, `text ${n + i}`)))
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  const id = await stage.write('one too many')
  await stage.shown(id, ({ status, contentAttributes: { external_error: error } }) => {
    return status === 'failed' && /200 messages already wait/.test(String(error))
  })
  assertRefused(await stage.post(stage.callback(id, 'one too many')), 'SERVICE_OUTBOX_FULL')
  const eve = stage.network.person({ phone: '5511888880002' })
  const conversation = { id: 60, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  const started = performance.now()
  const quick = await stage.post(stage.callback(5000, 'quick', { conversation }), { instance: 'n1' })
  assert.equal(quick.status, 200)
  assert.ok(performance.now() - started < 2000)
  await stage.reconnect()
  await waitUntil('the queue is empty', async () => (await stage.outbox())['pending'] === 0)
  assert.equal((await stage.post(stage.callback(id, 'one too many'))).status, 200)
  assert.equal(stage.texts().length, 201)
  // The helpdesk was told twice that it failed.
  await stage.service.app.workers.get('outbox-report')?.tick()
  await stage.shown(id, ({ status }) => status === 'sent')
})

test('what is queued survives a restart', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  for (const [n, text] of numbered(3).entries()) await stage.post(stage.callback(100 + n, text))
  stage.network.faults.clear()
  await stage.restart()
  await stage.received('message 2')
  assert.deepEqual(stage.texts(), numbered(3))
})

test('what waited for 5 minutes expires: told to the helpdesk, to subscribers and to the audit log', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  await stage.disconnect()
  const id = await stage.write('too late')
  await waitUntil('it is queued', async () => {
    await stage.passTime(10)
    return (await stage.outbox())['pending'] === 1
  })
  await clock.advance(298_000)
  await stage.service.app.workers.get('outbox-expire')?.tick()
  assert.equal((await stage.outbox())['pending'], 1)
  await clock.advance(2000)
  await stage.service.app.workers.get('outbox-expire')?.tick()
  const { expired, pending } = await stage.outbox()
  assert.deepEqual([expired, pending], [1, 0])
  await clock.advance(1000)
  await stage.service.app.workers.get('outbox-report')?.tick()
  const shown = await stage.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /not connected for 5 minutes/)
  const told = 'service_lifecycle_events_total{instance="n0",event="outgoing_expired",owner_tag=""}'
  await waitUntil('it is told', async () => (await stage.metric(told)) > 0)
  assert.equal(await stage.metric(told), 1)
  const audit = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.ok(audit.entries.some(({ action }) => action === 'outbox.expire'))
})

test('what expired while no process ran is not sent by the next one', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  await stage.disconnect()
  const { status } = await stage.post(stage.callback(1, 'too late'))
  assert.equal(status, 202)
  await stage.stop()
  await clock.advance(301_000)
  stage.network.faults.clear()
  await stage.restart()
  await waitUntil('it has expired', async () => {
    await stage.passTime()
    return (await stage.outbox())['expired'] === 1
  })
  assert.equal((await stage.post(stage.callback(2, 'in time'))).status, 200)
  assert.deepEqual(stage.texts(), ['in time'])
  const again = await stage.post(stage.callback(1, 'too late'))
  assertRefused(again, 'SERVICE_MESSAGE_REFUSED', /not connected for 5 minutes/)
})

test('so many a minute: the others wait in order, are audited, and do not expire', async () => {
  const clock = new ManualClock(Date.now())
  const environment = { SERVICE_OUTGOING_RATE_LIMIT: '1' }
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock }, environment })
  assert.equal((await stage.post(stage.callback(1, 'message 0'))).status, 200)
  const others = numbered(7).slice(1)
  for (const [n, text] of others.entries()) {
    const waiting = stage.post(stage.callback(10 + n, text))
    await waitUntil('it is stored', async () => (await stage.outbox())['pending'] === n + 1)
    await clock.advance(4000)
    const { status, body } = await waiting
    assert.deepEqual([status, (body as { expires_at: unknown }).expires_at], [202, null])
  }
  const audit = (await stage.service.get('/api/audit?instance=n0')).body as { entries: { action: string }[] }
  assert.equal(audit.entries.filter(({ action }) => action === 'outbox.enqueue').length, others.length)
  for (const [n] of others.entries()) {
    await waitUntil(`${n + 2} have arrived`, async () => {
      await clock.advance(2000)
      await stage.service.get('/api/instances/n0/state')
      return stage.texts().length === n + 2
    })
    const minutes = (clock.monotonic() - 24_000) / 60_000
    assert.ok(minutes > n, `${n + 2} messages after ${minutes} minutes`)
  }
  assert.ok(clock.monotonic() > 330_000)
  assert.deepEqual(stage.texts(), numbered(7))
  assert.equal((await stage.outbox())['expired'], 0)
})

test('deleting the instance fails what waits, with that reason', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  const id = await stage.write('never')
  await waitUntil('it is queued', async () => (await stage.outbox())['pending'] === 1)
  assert.equal((await stage.service.request('DELETE', '/api/instances/n0')).status, 200)
  const shown = await stage.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /the instance was deleted/)
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

test('no acknowledgement: repeated under the same id, and the customer sees it once', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  stage.network.fault({ kind: 'lost_ack' })
  const answer = stage.post(stage.callback(1, 'in doubt'))
  const first = await stage.received('in doubt')
  await clock.advance(4000)
  assert.equal((await answer).status, 202)
  await clock.advance(12_000)
  await waitUntil('it is put off', async () => {
    await clock.advance(1000)
    return (await stage.outbox())['sent'] === 1
  })
  assert.equal(stage.bob.duplicates, 1)
  assert.deepEqual(stage.texts(), ['in doubt'])
  await stage.post(stage.callback(2, 'after'))
  assert.notEqual((await stage.received('after')).id, first.id)
})

test('one instance that cannot send delays no other', async () => {
  await using stage = await OutboundStage.open({ accounts: 2 })
  await stage.network.strike({ kind: 'silence', account: stage.phone.user.phone })
  const stuck = Array.from({ length: 20 }, (_, n) => stage.post(stage.callback(n + 1, `stuck ${n}`)))
  const started = performance.now()
  const { status } = await stage.post(stage.callback(500, 'quick'), { instance: 'n1' })
  assert.equal(status, 200)
  assert.ok(performance.now() - started < 2000)
  const answers = await Promise.all(stuck)
  assert.ok(performance.now() - started < 5000, 'all were answered in time')
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([202]))
})
