// Messages that agents delete are taken back in every case, and are never sent afterwards.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { OutboundBed } from './harness/outbound-bed.ts'
import { reactions, revoked } from './harness/views.ts'

const deletion = (bed: OutboundBed, id: number) => ({
  ...bed.callback(id, 'This message was deleted', { content_attributes: { deleted: true } }),
  event: 'message_updated',
})

async function sendOne(bed: OutboundBed, id: number): Promise<string> {
  const { status, body } = await bed.post(bed.callback(id, `text ${id}`))
  assert.equal(status, 200)
  return (body as { waid: string }).waid
}

test('a message whose deletion arrives first is not sent', async () => {
  await using bed = await OutboundBed.open()
  for (let told = 0; told < 2; told++) assert.equal((await bed.post(deletion(bed, 5))).status, 200)
  const { status, body } = await bed.post(bed.callback(5, 'never mind'))
  assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'duplicate' }])
  await sendOne(bed, 6)
  assert.deepEqual(bed.texts(), ['text 6'])
})

test('a message that is already deleted in its callback is not sent', async () => {
  await using bed = await OutboundBed.open()
  const { status, body } = await bed.post({ ...deletion(bed, 5), event: 'message_created' })
  assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'deleted' }])
  await sendOne(bed, 6)
  assert.deepEqual(bed.texts(), ['text 6'])
})

test('neither a full queue nor a long outage loses a deletion', async () => {
  await using bed = await OutboundBed.open()
  const waid = await sendOne(bed, 1)
  bed.disconnect()
  for (let n = 0; n < 200; n += 20) {
    const batch = Array.from({ length: 20 }, (_, i) => bed.post(bed.callback(1000 + n + i, `waits ${n + i}`)))
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  assert.equal((await bed.post(deletion(bed, 1))).status, 200)
  await bed.pass(301_000)
  await bed.until('the queue has expired', async () => (await bed.outbox()).expired === 200, { stepMs: 5000 })
  bed.connect()
  await bed.until('it is taken back', () => revoked(bed).length === 1)
  assert.deepEqual(revoked(bed), [waid])
})

test('a deletion is answered when it is stored', async () => {
  await using bed = await OutboundBed.open()
  await sendOne(bed, 1)
  assert.equal(bed.location.engine, 'sqlite')
  const lock = new DatabaseSync(bed.location.path, { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  let answered = 0
  const answer = bed.post(deletion(bed, 1)).then(({ status }) => (answered = status))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(answered, 0, 'answered while it could not be stored')
  lock.close()
  assert.equal(await answer, 200)
})

test('a deletion that the database refuses is answered in time, and done when the database is well', async () => {
  await using bed = await OutboundBed.open()
  const waid = await sendOne(bed, 1)
  const change = (sql: string) => bed.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END`)
  let answered = 0
  void bed.post(deletion(bed, 1)).then(({ status }) => (answered = status))
  const startedAt = bed.clock.monotonic()
  await bed.until('it is answered', () => answered === 200)
  assert.ok(bed.clock.monotonic() - startedAt <= 4000)
  await change('DROP TRIGGER refuses')
  await bed.until('it is taken back', () => revoked(bed).length === 1)
  assert.deepEqual(revoked(bed), [waid])
})

test('of two emojis in reply to one message the newer is the reaction: only its deletion takes it back', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const asked = await bed.hears('thanks!')
  const reply = { content_attributes: { in_reply_to: asked.id } }
  const older = await bed.write('👍', reply, asked.conversationId)
  const newer = await bed.write('🎉', reply, asked.conversationId)
  await bed.until('both are settled', async () => (await bed.outbox()).sent === 2)
  await bed.desk.delete(older)
  await bed.until('the deletion is settled', async () => (await bed.outbox()).sent === 3)
  assert.deepEqual(reactions(bed), ['👍', '🎉'])
  await bed.desk.delete(newer)
  await bed.until('it is taken back', () => reactions(bed).length === 3)
  assert.deepEqual(reactions(bed), ['👍', '🎉', ''])
})
