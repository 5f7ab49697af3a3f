// The helpdesk repeats itself: whatever comes how often, each message leaves once.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import type { Answer } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const wordOf = ({ body }: Answer) => (body as { status: string }).status
const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))

/** What is sent after everything else has been: what came before is all there is. */
async function assertArrived(stage: OutboundStage, texts: string[]): Promise<void> {
  assert.equal((await stage.post(stage.callback(9000, 'the end'))).status, 200)
  await stage.received('the end')
  assert.deepEqual(stage.texts(), [...texts, 'the end'])
}

test('50 deliveries at once on PostgreSQL: sent once', async () => {
  await using stage = await OutboundStage.open({ engine: 'postgres' })
  const answers = await Promise.all(times(50, () => stage.post(stage.callback(7, 'only once'))))
  // Of an overloaded machine some hear that it could not decide in time.
  assert.equal(answers.map(wordOf).filter((word) => word === 'sent' || word === 'queued').length, 1)
  await stage.received('only once')
  await assertArrived(stage, ['only once'])
})

test('50 deliveries at once while disconnected, more after a restart: queued once, sent once', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  const answers = await Promise.all(times(50, () => stage.post(stage.callback(7, 'only once'))))
  assert.equal(answers.map(wordOf).filter((word) => word === 'queued').length, 1)
  assert.equal((await stage.outbox())['pending'], 1)
  stage.network.faults.clear()
  await stage.restart()
  await stage.received('only once')
  assert.equal(wordOf(await stage.post(stage.callback(7, 'only once'))), 'ignored')
  await assertArrived(stage, ['only once'])
})

test('without what is remembered of callbacks, a repeat would be sent', async () => {
  await using stage = await OutboundStage.open()
  const { database } = stage.service
  assert.equal(wordOf(await stage.post(stage.callback(7, 'twice'))), 'sent')
  await database.write(database.query.deleteFrom('callbacks'))
  assert.equal(wordOf(await stage.post(stage.callback(7, 'twice'))), 'sent')
  await assertArrived(stage, ['twice', 'twice'])
})

test('every event delivered twice, early and in no order: each message arrives once', async () => {
  const quirks = { ...calm, twice: 1, early: 0.5, late: 0.5, lateMs: [50, 150] as const, delayMs: [5, 40] as const }
  await using stage = await OutboundStage.open({ helpdesk: { quirks } })
  const texts = times(12, (n) => `text ${n}`)
  for (const text of texts) await stage.write(text)
  await waitUntil('all have arrived', () => stage.texts().length >= texts.length)
  await stage.helpdesk.settled()
  const created = stage.helpdesk.deliveries.filter(({ event }) => event === 'message_created')
  assert.equal(created.length, 2 * texts.length)
  assert.ok(created.every(({ status }) => status === 200))
  assert.deepEqual(stage.texts().sort(), texts.toSorted())
  assert.equal((await stage.outbox())['sent'], texts.length)
})

test('kinds of events do not collide: a change that comes first does not stand for the message', async () => {
  await using stage = await OutboundStage.open()
  const callback = stage.callback(7, 'hello')
  const updated = { ...callback, event: 'message_updated' }
  assert.equal(wordOf(await stage.post(updated)), 'ok')
  assert.equal(wordOf(await stage.post(callback)), 'sent')
  assert.equal(wordOf(await stage.post(updated)), 'ok')
  assert.equal(wordOf(await stage.post(callback)), 'ignored')
  const seen = { event: 'conversation_updated', id: 7, inbox_id: 1, agent_last_seen_at: 1 }
  assert.equal(wordOf(await stage.post(seen)), 'ok')
  assert.equal(wordOf(await stage.post({ ...stage.callback(7, 'hello'), event: undefined })), 'ignored')
  await assertArrived(stage, ['hello'])
})

test('instances do not collide: the same id at another instance is another message', async () => {
  await using stage = await OutboundStage.open({ accounts: 2 })
  const eve = stage.network.person({ phone: '5511888880002' })
  const conversation = { id: 61, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  assert.equal(wordOf(await stage.post(stage.callback(7, 'from the first'))), 'sent')
  const other = stage.callback(7, 'from the second', { conversation })
  assert.equal(wordOf(await stage.post(other, { instance: 'n1' })), 'sent')
  await stage.received('from the first')
  const [, second] = stage.phones
  assert.equal((await stage.received('from the second', eve)).from.phone, second?.user.phone)
  const totals = await Promise.all(['n0', 'n1'].map(async (name) => (await stage.outbox(name))['sent']))
  assert.deepEqual(totals, [1, 1])
})
