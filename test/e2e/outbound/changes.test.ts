import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import type { Delivery } from '../../../sim/helpdesk/webhooks/webhook-dispatcher.ts'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { kindOfMessage, textOfMessage, unwrap } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const revoked = (person: SimPerson) =>
  person.messages.entries
    .map(({ message }) => unwrap(message).protocolMessage)
    .filter((protocol) => Number(protocol?.type) === 0)
    .map((protocol) => protocol?.key?.id)

/** Waits until the failure is confirmed to the helpdesk: only then Retry counts. */
async function failed(stage: OutboundStage, id: number): Promise<void> {
  await stage.shown(id, ({ status }) => status === 'failed')
  const query = stage.service.database.query.selectFrom('outbox').select('report').where('message_id', '=', id)
  await waitUntil('the report is confirmed', async () => {
    const rows = await stage.service.database.read(query)
    return rows.every(({ report }) => report === 'done')
  })
  await stage.helpdesk.settled()
}

test('Retry sends a failed message again, once per failure', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('second try')
  await failed(stage, id)
  assert.deepEqual(stage.texts(), [])
  await stage.agent.post(`/conversations/${stage.conversation}/messages/${id}/retry`)
  await stage.received('second try')
  await stage.helpdesk.settled()
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
  // Later changes of the message are no Retry.
  await stage.post({ ...stage.callback(id, 'second try'), event: 'message_updated' })
  await stage.post(stage.callback(9000, 'the end'))
  assert.deepEqual(stage.texts(), ['second try', 'the end'])
  assert.equal((await stage.outbox())['failed'], 0)
})

test('a change of a failed message is no Retry while the helpdesk shows it failed', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('stays failed')
  await failed(stage, id)
  const update = { ...stage.callback(id, 'stays failed'), event: 'message_updated' }
  await stage.post(update)
  await stage.post({ ...update, content_attributes: { external_error: 'x' } })
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.deepEqual(stage.texts(), ['the end'])
})

test('Retry of what the spamguard held back is sent', async () => {
  await using stage = await OutboundStage.open()
  await stage.service.request('PATCH', '/api/instances/n0', { body: { spamguard_enabled: true } })
  await stage.write('a message that is long enough')
  await stage.received('a message that is long enough')
  const id = await stage.write('A message that is  *long* enough')
  await failed(stage, id)
  const refused = await stage.post(stage.callback(id, 'A message that is  *long* enough'))
  assert.deepEqual([refused.status, (refused.body as { status: string }).status], [422, 'blocked'])
  const { spamguard_blocks } = (await stage.service.get('/api/instances/n0')).body as { spamguard_blocks: number }
  assert.equal(spamguard_blocks, 1)
  assert.equal(await stage.metric('service_spamguard_blocks_total{instance="n0",owner_tag=""}'), 1)
  await stage.agent.post(`/conversations/${stage.conversation}/messages/${id}/retry`)
  await waitUntil('both are sent', async () => (await stage.outbox())['sent'] === 2)
  await stage.restart()
  const again = await stage.post(stage.callback(9001, 'a message that is long enough'))
  assert.equal(again.status, 422, 'known across a restart')
  assert.equal((await stage.post(stage.callback(9002, 'another message, long enough'))).status, 200)
  assert.equal((await stage.post(stage.callback(9003, 'a message that is long enough'))).status, 200)
})

test('a failed message does not arm the spamguard', async () => {
  await using stage = await OutboundStage.open()
  await stage.service.request('PATCH', '/api/instances/n0', { body: { spamguard_enabled: true } })
  stage.network.fault({ kind: 'ack_error', code: 479 })
  assert.equal((await stage.post(stage.callback(1, 'long enough to be judged'))).status, 500)
  assert.equal((await stage.post(stage.callback(2, 'long enough to be judged'))).status, 200)
})

test('a deleted message is taken back, every part of it, and only once', async () => {
  await using stage = await OutboundStage.open()
  const form = new FormData()
  form.set('content', 'two files')
  form.set('message_type', 'outgoing')
  for (const name of ['a.txt', 'b.txt']) form.append('attachments[]', new Blob([name]), name)
  const { body } = await stage.agent.send('POST', `/conversations/${stage.conversation}/messages`, form)
  await waitUntil('both files have arrived', () => stage.bob.messages.length === 2)
  const ids = stage.bob.messages.entries.map(({ id }) => id)
  await stage.agent.delete(`/conversations/${stage.conversation}/messages/${body.id}`)
  await waitUntil('both are taken back', () => revoked(stage.bob).length === 2)
  assert.deepEqual(revoked(stage.bob), ids)
  await stage.post({
    ...stage.callback(body.id, 'gone'),
    event: 'message_updated',
    content_attributes: { deleted: true },
  })
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.equal(revoked(stage.bob).length, 2)
})

test('a reaction is taken back with the emoji that was deleted', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_EMOJI_REPLY_AS_REACTION: 'true' } })
  const question = stage.bob.text(stage.phone, 'thanks!')
  const asked = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  const reply = { content_attributes: { in_reply_to: asked.id } }
  const reactions = () =>
    stage.bob.messages.entries
      .map(({ message }) => unwrap(message).reactionMessage)
      .filter((reaction) => reaction !== null && reaction !== undefined)
      .map(({ key, text }) => [key?.id, text ?? ''])
  const id = await stage.write('👍🏽', reply, asked.conversationId)
  await waitUntil('the reaction has arrived', () => reactions().length === 1)
  await waitUntil('it is settled', async () => (await stage.outbox())['sent'] === 1)
  await stage.agent.delete(`/conversations/${asked.conversationId}/messages/${id}`)
  await waitUntil('it is taken back', () => reactions().length === 2)
  assert.deepEqual(reactions(), [
    [question.id, '👍🏽'],
    [question.id, ''],
  ])
  await waitUntil('nothing is left to do', async () => (await stage.outbox())['pending'] === 0)
  assert.deepEqual(revoked(stage.bob), [])
})

test('a message deleted while it is being refused leaves nothing to take back', async () => {
  const leaving = Promise.withResolvers<undefined>()
  const deleted = Promise.withResolvers<undefined>()
  let steps = 0
  const onSendStep = async (step: SendStep) => {
    if (step !== 'claimed' || steps++ > 0) return
    leaving.resolve(undefined)
    await deleted.promise
  }
  await using stage = await OutboundStage.open({ onSendStep })
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('refused')
  await leaving.promise
  await stage.agent.delete(`/conversations/${stage.conversation}/messages/${id}`)
  await waitUntil('both are queued', async () => (await stage.outbox())['pending'] === 2)
  deleted.resolve(undefined)
  await waitUntil('both are settled', async () => (await stage.outbox())['pending'] === 0)
  assert.deepEqual(stage.bob.messages.entries, [])
})

test('a message deleted while it waits is not sent', async () => {
  await using stage = await OutboundStage.open()
  await stage.disconnect()
  const id = await stage.write('never mind')
  await waitUntil('it is queued', async () => (await stage.outbox())['pending'] === 1)
  await stage.agent.delete(`/conversations/${stage.conversation}/messages/${id}`)
  await waitUntil('it is cancelled', async () => (await stage.outbox())['pending'] === 0)
  const again = await stage.post(stage.callback(id, 'never mind'))
  assert.deepEqual([again.status, (again.body as { reason: string }).reason], [200, 'duplicate'])
  await stage.reconnect()
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.deepEqual(stage.texts(), ['the end'])
})

test('a message deleted before the helpdesk told of it is not sent, nor is the notice of its deletion', async () => {
  const quirks = { ...calm, late: 1, lateMs: [600, 600] as const }
  await using stage = await OutboundStage.open({ helpdesk: { quirks } })
  const id = await stage.write('never mind')
  await stage.agent.delete(`/conversations/${stage.conversation}/messages/${id}`)
  const told = ({ event, body }: Delivery) => event === 'message_created' && 'id' in body && body.id === id
  assert.equal((await stage.helpdesk.waitForDelivery('the late event', told, 10_000)).status, 200)
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.deepEqual(stage.texts(), ['the end'])
})

test('what may have left is taken back too', async () => {
  await using stage = await OutboundStage.open()
  stage.network.fault({ kind: 'lost_ack' })
  const id = await stage.write('in doubt')
  const { id: waid } = await stage.received('in doubt')
  stage.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
  await stage.network.strike({ kind: 'drop', account: stage.phone.user.phone })
  await waitUntil('it is in doubt', async () => {
    const { database } = stage.service
    const rows = await database.read(database.query.selectFrom('outbox').select(['status', 'unconfirmed']))
    return rows[0]?.status === 'pending' && rows[0].unconfirmed === 1
  })
  await stage.agent.delete(`/conversations/${stage.conversation}/messages/${id}`)
  await waitUntil('it is cancelled', async () => (await stage.outbox())['failed'] === 1)
  await stage.reconnect()
  await waitUntil('it is taken back', () => revoked(stage.bob).length === 1)
  assert.deepEqual(revoked(stage.bob), [waid])
  assert.equal(stage.bob.duplicates, 0, 'it was not sent again')
})

test('an edit changes what was sent; what is not ours, too old or not connected is refused', async () => {
  await using stage = await OutboundStage.open()
  const { waid } = (await stage.post(stage.callback(1, 'mistaek'))).body as { waid: string }
  const edit = (id: string, body: object) =>
    stage.service.request('POST', `/api/instances/n0/messages/${id}/edit`, { body })
  const chat = '5511888880001@s.whatsapp.net'
  const done = await edit(waid, { chat, content: 'mistake' })
  assert.deepEqual([done.status, done.body], [200, { waid, edited: true }])
  const edited = await stage.bob.messages.waitFor(
    'the edit',
    ({ message }) => kindOfMessage(message) === 'protocolMessage',
  )
  assert.equal(unwrap(edited.message).protocolMessage?.key?.id, waid)
  await stage.post(stage.callback(2, 'as I said', { content_attributes: { in_reply_to: 1 } }))
  const { message: answer } = await stage.received('as I said')
  const quoted = unwrap(answer).extendedTextMessage?.contextInfo?.quotedMessage
  assert.equal(quoted && textOfMessage(quoted), 'mistake', 'a quote shows the edited text')
  assertRefused(await edit(waid, { chat }), 'SERVICE_BAD_REQUEST', /content/)
  assertRefused(await edit(waid, { content: 'x' }), 'SERVICE_BAD_REQUEST', /chat/)
  assertRefused(await edit('3EB0NOTOURS', { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /no message of ours/)
  assertRefused(await edit(waid, { chat: '5511888880009@s.whatsapp.net', content: 'x' }), 'SERVICE_NETWORK_FAILED')
  stage.network.fault({ kind: 'ack_error', code: 479 })
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /479/)
  await stage.service.database.write(
    stage.service.database.query.updateTable('message_map').set({ network_at: Date.now() - 901_000 }),
  )
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /15 minutes/)
  await stage.disconnect()
  await stage.service.database.write(
    stage.service.database.query.updateTable('message_map').set({ network_at: Date.now() }),
  )
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /not connected/)
})
