// Messages that wait: for the connection, for the rate of the drain, for the limit of a minute, for an acknowledgement.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { announced, auditOf, metricOf, rowOf } from './harness/views.ts'

const numbered = (count: number, prefix = 'message') => Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

/** Bob's messages wait for the connection. */
async function queue(bed: OutboundBed, texts: readonly string[]): Promise<void> {
  bed.disconnect()
  for (const [n, text] of texts.entries()) {
    assert.equal((await bed.post(bed.callback(100 + n, text))).status, 202)
  }
}

test('the drain keeps its rate, and a fresh message to another customer does not wait for it', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_DRAIN_RATE: '2' } })
  const eve = bed.network.person({ phone: '5511888880002', name: 'Eve' })
  await queue(bed, numbered(4))
  bed.connect()
  await bed.settle()
  assert.deepEqual(bed.texts(), ['message 0'])
  const startedAt = bed.clock.monotonic()
  const sender = { identifier: '5511888880002@s.whatsapp.net' }
  const conversation = { id: 99, inbox_id: 1, meta: { sender } }
  assert.equal((await bed.post(bed.callback(200, 'fresh', { conversation }))).status, 200)
  assert.deepEqual(bed.texts(eve), ['fresh'])
  assert.ok(!bed.texts().includes('message 3'), 'the queue is still being drained')
  const behind = bed.post(bed.callback(201, 'message 4'))
  await bed.received('message 3')
  const took = bed.clock.monotonic() - startedAt
  assert.ok(took > 900, `3 more at 2 per second took only ${took} ms`)
  assert.ok((await behind).status < 300)
  await bed.received('message 4')
  assert.deepEqual(bed.texts(), numbered(5), 'its own chat keeps its order')
})

test('after a reconnect the first message leaves at once, the next at the rate of the drain', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_DRAIN_RATE: '1' } })
  await queue(bed, numbered(2))
  bed.connect()
  await bed.settle()
  assert.deepEqual(bed.texts(), ['message 0'])
  const startedAt = bed.clock.monotonic()
  await bed.received('message 1')
  const took = bed.clock.monotonic() - startedAt
  assert.ok(took > 600, `the second took only ${took} ms more`)
})

test('the 201st message that would have to wait is refused, and may come again; another instance is not affected', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  bed.disconnect()
  for (let n = 0; n < 200; n += 20) {
    const batch = Array.from({ length: 20 }, (_, i) => bed.post(bed.callback(1000 + n + i, `text ${n + i}`)))
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  const id = await bed.write('one too many')
  await bed.shown(id, ({ status, contentAttributes: { external_error: error } }) => {
    return status === 'failed' && /200 messages already wait/.test(String(error))
  })
  assertRefused(await bed.post(bed.callback(id, 'one too many')), 'SERVICE_OUTBOX_FULL', /the account is not connected/)
  bed.network.person({ phone: '5511888880002' })
  const conversation = { id: 60, inbox_id: 1, meta: { sender: { phone_number: '+5511888880002' } } }
  const quick = await bed.post(bed.callback(5000, 'quick', { conversation }), { instance: 'n1' })
  assert.equal(quick.status, 200)
  bed.connect()
  await bed.until('the queue is empty', async () => (await bed.outbox()).pending === 0)
  assert.equal((await bed.post(bed.callback(id, 'one too many'))).status, 200)
  assert.equal(bed.texts().length, 201)
  // The helpdesk was told twice that it failed.
  await bed.shown(id, ({ status }) => status === 'sent')
})

test('queued messages survive a restart', async () => {
  await using bed = await OutboundBed.open()
  await queue(bed, numbered(3))
  await bed.restart()
  await bed.received('message 2')
  assert.deepEqual(bed.texts(), numbered(3))
})

test('a message that waited for 5 minutes expires: the helpdesk, the subscribers and the audit log are told', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const id = await bed.write('too late')
  assert.equal((await bed.outbox()).pending, 1)
  await bed.pass(298_000)
  await bed.process.worker('outbox-expire').tick()
  assert.equal((await bed.outbox()).pending, 1)
  await bed.pass(2000)
  await bed.process.worker('outbox-expire').tick()
  const { expired, pending } = await bed.outbox()
  assert.deepEqual([expired, pending], [1, 0])
  const shown = await bed.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /not connected for 5 minutes/)
  assert.equal(announced(bed, 'outgoing_expired'), 1)
  assert.ok((await auditOf(bed)).includes('outbox.expire'))
})

test('messages expire also when another process holds one of the instances by now', async () => {
  await using bed = await OutboundBed.open({ accounts: 3 })
  for (const [n, name] of bed.accounts.names.entries()) {
    bed.disconnect(name)
    assert.equal((await bed.post(bed.callback(100 + n, 'too late'), { instance: name })).status, 202)
  }
  bed.process.lost.add('n1')
  await bed.pass(300_000)
  await bed.process.worker('outbox-expire').tick()
  const counts = await Promise.all(bed.accounts.names.map((name) => bed.outbox(name)))
  assert.deepEqual(
    counts.map(({ expired }) => expired),
    [1, 0, 1],
  )
})

test('a message does not expire while its account is logged in and still receives its backlog', async () => {
  await using bed = await OutboundBed.open()
  await queue(bed, ['written before'])
  await bed.pass(240_000)
  bed.change('n0', { state: 'connected' })
  const meanwhile = bed.post(bed.callback(200, 'written meanwhile'))
  for (let minutes = 0; minutes < 10; minutes++) {
    await bed.pass(60_000)
    await bed.process.worker('outbox-expire').tick()
  }
  assert.equal((await meanwhile).status, 202)
  bed.connect()
  await bed.received('written meanwhile')
  assert.deepEqual(bed.texts(), ['written before', 'written meanwhile'])
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(201, 'too late'))).status, 202)
  await bed.pass(310_000)
  await bed.process.worker('outbox-expire').tick()
  assert.equal((await bed.outbox()).expired, 1)
})

test('a message that is accepted while its account receives its backlog does not expire, and the answer says so', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  bed.change('n0', { state: 'connected' })
  const posted = bed.post(bed.callback(1, 'waits'))
  await bed.pass(5000)
  const { status, body } = await posted
  assert.partialDeepStrictEqual([status, body], [202, { expires_at: null }])
})

test('a message that expired while no process ran is not sent by the next process', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(1, 'too late'))).status, 202)
  await bed.stop()
  await bed.clock.advance(301_000)
  await bed.start()
  await bed.until('it has expired', async () => (await bed.outbox()).expired === 1)
  assert.equal((await bed.post(bed.callback(2, 'in time'))).status, 200)
  assert.deepEqual(bed.texts(), ['in time'])
  const again = await bed.post(bed.callback(1, 'too late'))
  assertRefused(again, 'SERVICE_MESSAGE_REFUSED', /not connected for 5 minutes/)
})

test('above the limit of a minute messages wait in order, are audited, and do not expire', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '1' } })
  assert.equal((await bed.post(bed.callback(1, 'message 0'))).status, 200)
  const others = numbered(7).slice(1)
  for (const [n, text] of others.entries()) {
    const waiting = bed.post(bed.callback(10 + n, text))
    await bed.until('it is stored', async () => (await bed.outbox()).pending === n + 1, { stepMs: 0 })
    await bed.clock.advance(4000)
    const { status, body } = await waiting
    assert.deepEqual([status, (body as { expires_at: unknown }).expires_at], [202, null])
  }
  assert.equal((await auditOf(bed)).filter((action) => action === 'outbox.enqueue').length, others.length)
  for (const [n] of others.entries()) {
    await bed.until(`${n + 2} have arrived`, () => bed.texts().length === n + 2, { stepMs: 2000 })
    const minutes = (bed.clock.monotonic() - 24_000) / 60_000
    assert.ok(minutes > n, `${n + 2} messages after ${minutes} minutes`)
  }
  assert.ok(bed.clock.monotonic() > 330_000)
  assert.deepEqual(bed.texts(), numbered(7))
  assert.equal((await bed.outbox()).expired, 0)
})

test('when 200 messages wait for the limit of a minute, the refusal names the limit and not the connection', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '1' } })
  assert.equal((await bed.post(bed.callback(1, 'the first of the minute'))).status, 200)
  for (let n = 0; n < 200; n += 50) {
    const batch = Array.from({ length: 50 }, (_, i) => bed.post(bed.callback(1000 + n + i, `text ${n + i}`)))
    await bed.until('they are stored', async () => (await bed.outbox()).pending === n + 50)
    await bed.clock.advance(4000)
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  const id = await bed.write('one too many')
  const byRate = /its limit of 1 per minute, and 200 messages already wait/
  await bed.shown(id, ({ contentAttributes: { external_error: error } }) => byRate.test(String(error)))
  assertRefused(await bed.post(bed.callback(id, 'one too many')), 'SERVICE_OUTBOX_FULL', byRate)
})

test('deleting the instance fails its waiting messages, with that reason', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const id = await bed.write('never')
  assert.equal((await bed.outbox()).pending, 1)
  await bed.remove()
  await bed.until('the helpdesk is told', () => bed.desk.marks.length > 0)
  const [mark] = bed.desk.marks
  assert.deepEqual([mark?.id, mark?.status], [id, 'failed'])
  assert.match(mark?.reason ?? '', /the instance was deleted/)
})

test('a message without an acknowledgement is repeated under the same id, and the customer sees it once', async () => {
  await using bed = await OutboundBed.open()
  bed.network.fault({ kind: 'lost_ack' })
  const answer = bed.post(bed.callback(1, 'in doubt'))
  await bed.until('it has left', () => bed.texts().length === 1, { stepMs: 0 })
  const [first] = bed.network.to(bed.bob)
  await bed.clock.advance(4000)
  assert.equal((await answer).status, 202)
  await bed.until('it is repeated and confirmed', async () => (await bed.outbox()).sent === 1, { stepMs: 1000 })
  assert.equal(bed.network.duplicates, 1)
  assert.deepEqual(bed.texts(), ['in doubt'])
  await bed.post(bed.callback(2, 'after'))
  assert.notEqual((await bed.received('after')).id, first?.id)
})

test('one instance that cannot send delays no other', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  bed.network.silent.add('n0')
  const stuck = Array.from({ length: 20 }, (_, n) => bed.post(bed.callback(n + 1, `stuck ${n}`)))
  const quick = bed.callback(500, 'quick')
  const conversation = { ...(quick['conversation'] as object), id: 9001 }
  assert.equal((await bed.post({ ...quick, conversation }, { instance: 'n1' })).status, 200)
  await bed.until('all are stored', async () => (await bed.outbox()).pending === stuck.length, { stepMs: 0 })
  await bed.pass(4000)
  const answers = await Promise.all(stuck)
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([202]))
})

test('a row that is stored and in no queue is taken up, expires and fails like every other', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  assert.equal((await bed.post(bed.callback(1, 'stored'))).status, 202)
  using copies = copyRow(bed, 1)
  copies.store(2)
  bed.connect()
  await bed.received('stored')
  await bed.process.worker('outbox-drain').tick()
  await bed.until('it is taken up', () => bed.texts().length === 2, { stepMs: 0 })
  bed.disconnect()
  copies.store(3)
  await bed.process.worker('outbox-expire').tick()
  await bed.until('it has expired', async () => (await rowOf(bed, 3)).status === 'expired', { stepMs: 60_000 })
  await bed.remove()
  copies.store(4)
  await bed.process.worker('outbox-drain').tick()
  await bed.until('it has failed', async () => (await rowOf(bed, 4)).status === 'failed', { stepMs: 0 })
  assert.equal((await rowOf(bed, 4)).reason, 'the instance was deleted')
})

test('the only process looks for rows of deleted instances after its start and after a deletion, and not all the time', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  await bed.post(bed.callback(1, 'stored'))
  const drain = () => bed.process.worker('outbox-drain').tick()
  await drain()
  await bed.database.write(bed.database.query.updateTable('outbox').set({ instance: 'gone' }))
  await drain()
  assert.equal((await rowOf(bed, 1)).status, 'pending')
  await bed.process.outbound.forget('another')
  await drain()
  assert.equal((await rowOf(bed, 1)).status, 'failed')
})

/** Stores copies of a waiting row behind the back of the process, for other messages. */
function copyRow({ location }: OutboundBed, messageId: number) {
  assert.equal(location.engine, 'sqlite')
  const database = new DatabaseSync(location.path, { timeout: 5000 })
  const row = database.prepare('SELECT * FROM outbox WHERE message_id = ?').get(messageId)
  assert.ok(row)
  const columns = Object.keys(row)
  const insert = database.prepare(`INSERT INTO outbox (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
  return {
    store(id: number): void {
      const copy = { ...row, id: `${String(row['id'])}-${id}`, message_id: id, waiting: 0, expires_at: null }
      insert.run(...Object.values(copy))
    },
    [Symbol.dispose]() {
      database.close()
    },
  }
}

test('rows that are settled while they wait are counted no longer, wherever they are in their queue', async () => {
  await using bed = await OutboundBed.open()
  bed.network.person({ phone: '5511888880002' })
  const eve = { conversation: { id: 60, inbox_id: 1, meta: { sender: { phone_number: '+5511888880002' } } } }
  await queue(bed, ['x', 'y', 'z'])
  assert.equal((await bed.post(bed.callback(200, 'other', eve))).status, 202)
  const gauges = ['service_outbox_pending', 'service_outbound_lanes', 'service_outbound_lane_longest']
  const counts = () => Promise.all(gauges.map((gauge) => metricOf(bed, gauge)))
  await bed.process.worker('outbox-expire').tick()
  assert.deepEqual(await counts(), [4, 2, 3])
  for (const [id, more] of [[101, {}] as const, [200, eve] as const]) {
    const deletion = { ...more, event: 'message_updated', content_attributes: { deleted: true } }
    assert.equal((await bed.post(bed.callback(id, 'deleted', deletion))).status, 200)
  }
  await bed.until('both are let go', async () => (await counts())[0] === 2, { stepMs: 0 })
  assert.deepEqual(await counts(), [2, 1, 2])
  await bed.until('the rest has expired', async () => (await bed.outbox()).expired === 2, { stepMs: 60_000 })
  await bed.until('all are let go', async () => (await counts())[0] === 0, { stepMs: 0 })
  assert.deepEqual(await counts(), [0, 0, 0])
})
