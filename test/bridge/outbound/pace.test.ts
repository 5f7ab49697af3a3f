// How fast an instance sends: its own limit, and the warm-up of its number.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

const day = 86_400_000

/** Of so many messages that are written at once, these are sent within seconds, and the others wait. */
async function assertSentAtOnce(bed: OutboundBed, count: number, expected: number, firstId = 1000): Promise<void> {
  const before = await bed.outbox()
  const sent = async () => (await bed.outbox()).sent - before.sent
  const posts = Array.from({ length: count }, (_, n) => bed.post(bed.callback(firstId + n, `text ${firstId + n}`)))
  await bed.until(`${expected} are sent`, async () => (await sent()) >= expected, { stepMs: 10, instead: sent })
  await bed.pass(5000)
  await Promise.all(posts)
  assert.deepEqual([await sent(), (await bed.outbox()).pending], [expected, count - expected])
}

test('a newly linked number sends 8 a minute on the first of ten days, more later, and as much as it likes after the last', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_WARMUP_DAYS: '10' } })
  bed.change('n0', { linkedAt: bed.clock.now() })
  await assertSentAtOnce(bed, 10, 8)
  await bed.until('all are sent', async () => (await bed.outbox()).pending === 0, { stepMs: 5000 })
  await bed.pass(60_000)
  bed.change('n0', { linkedAt: bed.clock.now() - 5 * day })
  await assertSentAtOnce(bed, 25, 20, 2000)
  await bed.until('all are sent', async () => (await bed.outbox()).pending === 0, { stepMs: 5000 })
  bed.change('n0', { linkedAt: bed.clock.now() - 10 * day })
  await assertSentAtOnce(bed, 40, 40, 3000)
})

test('the own limit of an instance comes before the limit of the service, and its warm-up counts from it', async () => {
  const environment = { SERVICE_OUTGOING_RATE_LIMIT: '2', SERVICE_WARMUP_DAYS: '5' }
  await using bed = await OutboundBed.open({ accounts: 2, environment })
  bed.change('n0', { outgoingRateLimit: 10 })
  await assertSentAtOnce(bed, 12, 10)
  bed.change('n0', { outgoingRateLimit: 0 })
  await bed.until('all are sent', async () => (await bed.outbox()).pending === 0)
  bed.change('n0', { outgoingRateLimit: 10, linkedAt: bed.clock.now() })
  await bed.pass(60_000)
  await assertSentAtOnce(bed, 4, 3, 2000)
})

test('when 200 messages wait in the warm-up of a number, the refusal says so', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_WARMUP_DAYS: '7' } })
  bed.change('n0', { linkedAt: bed.clock.now() - day, outgoingRateLimit: 3 })
  await assertSentAtOnce(bed, 1, 1)
  for (let n = 0; n < 200; n += 50) {
    const batch = Array.from({ length: 50 }, (_, i) => bed.post(bed.callback(2000 + n + i, `text ${n + i}`)))
    await bed.until('they are stored', async () => (await bed.outbox()).pending === n + 50)
    await bed.clock.advance(4000)
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  const reason = /may send at most 1 per minute today \(day 2 of 7\), and 200 messages already wait/
  assertRefused(await bed.post(bed.callback(5000, 'one too many')), 'SERVICE_OUTBOX_FULL', reason)
})

test('a message that could not be stored leaves its place to the next one', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '1' } })
  // Bob has written before. A message to him therefore takes its place in the pace while its row is being stored.
  await bed.hears('hi')
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END`)
  assert.equal((await bed.post(bed.callback(1, 'not stored'))).status, 500)
  await change('DROP TRIGGER refuses')
  const answer = bed.post(bed.callback(2, 'stored'))
  await bed.until('it has left', () => bed.texts().length === 1, { stepMs: 0 })
  assert.equal((await answer).status, 200)
  assert.equal(bed.clock.monotonic(), 0)
})
