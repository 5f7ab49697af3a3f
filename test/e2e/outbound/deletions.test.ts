// Messages that agents delete: taken back whatever else happens, and never sent after it.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const revoked = ({ bob }: OutboundStage) =>
  bob.messages.entries
    .map(({ message }) => unwrap(message).protocolMessage)
    .filter((protocol) => Number(protocol?.type) === 0)
    .map((protocol) => protocol?.key?.id)

const deletion = (stage: OutboundStage, id: number) => ({
  ...stage.callback(id, 'This message was deleted', { content_attributes: { deleted: true } }),
  event: 'message_updated',
})

async function sendOne(stage: OutboundStage, id: number): Promise<string> {
  const { status, body } = await stage.post(stage.callback(id, `text ${id}`))
  assert.equal(status, 200)
  return (body as { waid: string }).waid
}

test('a message whose deletion is told first is not sent', async () => {
  await using stage = await OutboundStage.open()
  for (let told = 0; told < 2; told++) assert.equal((await stage.post(deletion(stage, 5))).status, 200)
  const { status, body } = await stage.post(stage.callback(5, 'never mind'))
  assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'duplicate' }])
  await sendOne(stage, 6)
  assert.deepEqual(stage.texts(), ['text 6'])
})

test('a message that is deleted when it is told of is not sent', async () => {
  await using stage = await OutboundStage.open()
  const { status, body } = await stage.post({ ...deletion(stage, 5), event: 'message_created' })
  assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'deleted' }])
  await sendOne(stage, 6)
  assert.deepEqual(stage.texts(), ['text 6'])
})

test('neither a full queue nor a long outage loses a deletion', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({
    ...{ clock, helpdesk: { clock }, environment: { SERVICE_DRAIN_RATE: '0' } },
  })
  const waid = await sendOne(stage, 1)
  await stage.disconnect()
  for (let n = 0; n < 200; n += 20) {
    const batch = Array.from({ length: 20 }, (_, i) => stage.post(stage.callback(1000 + n + i, `waits ${n + i}`)))
    for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
  }
  assert.equal((await stage.post(deletion(stage, 1))).status, 200)
  await clock.advance(301_000)
  await waitUntil('the queue has expired', async () => {
    await stage.service.app.workers.get('outbox-expire')?.tick()
    return (await stage.outbox())['expired'] === 200
  })
  await stage.reconnect()
  await waitUntil('it is taken back', () => revoked(stage).length === 1)
  assert.deepEqual(revoked(stage), [waid])
})

test('a deletion is answered when it is stored', async () => {
  await using stage = await OutboundStage.open()
  await sendOne(stage, 1)
  const lock = new DatabaseSync(stage.service.databasePath, { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  let isFree = false
  setTimeout(() => {
    isFree = true
    lock.close()
  }, 500)
  assert.equal((await stage.post(deletion(stage, 1))).status, 200)
  assert.ok(isFree, 'answered while it could not be stored')
})

test('a deletion that the database refuses is answered in time, and done when the database is well', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  const waid = await sendOne(stage, 1)
  const change = (sql: string) => stage.service.database.write({ sql, parameters: [] })
  await change(`CREATE TRIGGER refuses BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END`)
  let answered = 0
  void stage.post(deletion(stage, 1)).then(({ status }) => (answered = status))
  const startedAt = clock.monotonic()
  await waitUntil('it is answered', async () => {
    await stage.passTime()
    return answered === 200
  })
  assert.ok(clock.monotonic() - startedAt <= 4000)
  await change('DROP TRIGGER refuses')
  await waitUntil('it is taken back', async () => {
    await stage.passTime()
    return revoked(stage).length === 1
  })
  assert.deepEqual(revoked(stage), [waid])
})

test('of two emojis in reply to one message the newer is the reaction: only its deletion takes it back', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const question = stage.bob.text(stage.phone, 'thanks!')
  const asked = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  const reply = { content_attributes: { in_reply_to: asked.id } }
  const reactions = () =>
    stage.bob.messages.entries
      .flatMap(({ message }) => unwrap(message).reactionMessage ?? [])
      .map(({ text }) => text ?? '')
  const [older, newer] = [
    await stage.write('👍', reply, asked.conversationId),
    await stage.write('🎉', reply, asked.conversationId),
  ]
  await waitUntil('both are settled', async () => (await stage.outbox())['sent'] === 2)
  const remove = (id: number) => stage.agent.delete(`/conversations/${asked.conversationId}/messages/${id}`)
  await remove(older)
  await waitUntil('the deletion is settled', async () => (await stage.outbox())['sent'] === 3)
  assert.deepEqual(reactions(), ['👍', '🎉'])
  await remove(newer)
  await waitUntil('it is taken back', () => reactions().length === 3)
  assert.deepEqual(reactions(), ['👍', '🎉', ''])
})
