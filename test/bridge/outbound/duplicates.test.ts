// The helpdesk repeats itself: however often a callback comes, each message leaves once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import type { Answer } from './harness/agent-desk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

const wordOf = ({ body }: Answer) => (body as { status: string }).status
const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))

/** What is sent after everything else has been: what came before is all there is. */
async function assertArrived(bed: OutboundBed, texts: string[]): Promise<void> {
  assert.equal((await bed.post(bed.callback(9000, 'the end'))).status, 200)
  assert.deepEqual(bed.texts(), [...texts, 'the end'])
}

test('50 deliveries of one message at once send it once', async () => {
  await using bed = await OutboundBed.open()
  const answers = await Promise.all(times(50, () => bed.post(bed.callback(7, 'only once'))))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(answers.filter((answer) => wordOf(answer) === 'sent').length, 1)
  await assertArrived(bed, ['only once'])
})

test('50 deliveries at once on PostgreSQL: sent once', { skip: withoutPostgres }, async () => {
  await using bed = await OutboundBed.open({ engine: 'postgres' })
  const answers = await Promise.all(times(50, () => bed.post(bed.callback(7, 'only once'))))
  assert.equal(answers.filter((answer) => ['sent', 'queued'].includes(wordOf(answer))).length, 1)
  await bed.received('only once')
  await assertArrived(bed, ['only once'])
})

test('50 deliveries at once while disconnected, more after a restart: queued once, sent once', async () => {
  await using bed = await OutboundBed.open()
  bed.disconnect()
  const answers = await Promise.all(times(50, () => bed.post(bed.callback(7, 'only once'))))
  assert.equal(answers.map(wordOf).filter((word) => word === 'queued').length, 1)
  assert.equal((await bed.outbox()).pending, 1)
  await bed.restart()
  await bed.received('only once')
  assert.equal(wordOf(await bed.post(bed.callback(7, 'only once'))), 'ignored')
  await assertArrived(bed, ['only once'])
})

test('without the record of callbacks, a repeat would be sent', async () => {
  await using bed = await OutboundBed.open()
  assert.equal(wordOf(await bed.post(bed.callback(7, 'twice'))), 'sent')
  await bed.database.write(bed.database.query.deleteFrom('settled_callbacks'))
  assert.equal(wordOf(await bed.post(bed.callback(7, 'twice'))), 'sent')
  await assertArrived(bed, ['twice', 'twice'])
})

test('kinds of events do not collide: a change that comes first does not count as the message', async () => {
  await using bed = await OutboundBed.open()
  const callback = bed.callback(7, 'hello')
  const updated = { ...callback, event: 'message_updated' }
  assert.equal(wordOf(await bed.post(updated)), 'ok')
  assert.equal(wordOf(await bed.post(callback)), 'sent')
  assert.equal(wordOf(await bed.post(updated)), 'ok')
  assert.equal(wordOf(await bed.post(callback)), 'ignored')
  const seen = { event: 'conversation_updated', id: 7, inbox_id: 1, agent_last_seen_at: 1 }
  assert.equal(wordOf(await bed.post(seen)), 'ok')
  assert.equal(wordOf(await bed.post({ ...bed.callback(7, 'hello'), event: undefined })), 'ignored')
  await assertArrived(bed, ['hello'])
})

test('instances of one inbox share their callbacks: the same id at another instance is the same message', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const deliver = (instance: string) => bed.post(bed.callback(7, 'only once'), { instance })
  const answers = await Promise.all(times(20, (index) => deliver(`n${index % 2}`)))
  assert.equal(answers.filter((answer) => wordOf(answer) === 'sent').length, 1)
  assert.equal(wordOf(await deliver('n1')), 'ignored')
  await assertArrived(bed, ['only once'])
})

test('inboxes do not collide: the same id in another inbox is another message', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  bed.change('n1', { inboxId: 2 })
  const eve = bed.network.person({ phone: '5511888880002' })
  const conversation = { id: 61, inbox_id: 2, meta: { sender: { phone_number: '+5511888880002' } } }
  assert.equal(wordOf(await bed.post(bed.callback(7, 'from the first'))), 'sent')
  const other = bed.callback(7, 'from the second', { inbox: { id: 2 }, conversation })
  assert.equal(wordOf(await bed.post(other, { instance: 'n1' })), 'sent')
  await bed.received('from the first')
  assert.equal((await bed.received('from the second', eve)).instance, 'n1')
  const totals = await Promise.all(['n0', 'n1'].map(async (name) => (await bed.outbox(name)).sent))
  assert.deepEqual(totals, [1, 1])
})
