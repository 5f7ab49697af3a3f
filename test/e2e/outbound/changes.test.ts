import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import type { Delivery } from '../../../sim/helpdesk/webhooks/webhook-dispatcher.ts'
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
