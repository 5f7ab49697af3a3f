import { AgentWorld } from '../../harness/agent-world.ts'
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

/** Waits until the helpdesk shows our reason. */
async function failed(world: AgentWorld, id: number): Promise<void> {
  await world.shown(id, ({ status }) => status === 'failed')
  const query = world.service.database.query.selectFrom('outbox').select('shown').where('message_id', '=', id)
  await waitUntil('our reason is shown', async () => {
    const rows = await world.service.database.read(query)
    return rows.every(({ shown }) => shown === 'told')
  })
  await world.helpdesk.settled()
}

test('Retry sends a failed message again, once per failure', async () => {
  await using world = await AgentWorld.open()
  world.network.fault({ kind: 'ack_error', code: 404 })
  const id = await world.write('second try')
  await failed(world, id)
  assert.deepEqual(world.texts(), [])
  await world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)
  await world.received('second try')
  await world.helpdesk.settled()
  assert.equal((await world.shown(id, () => true)).status, 'sent')
  // Later changes of the message are no Retry.
  await world.post({ ...world.callback(id, 'second try'), event: 'message_updated' })
  await world.post(world.callback(9000, 'the end'))
  assert.deepEqual(world.texts(), ['second try', 'the end'])
  assert.equal((await world.outbox())['failed'], 0)
})

test('a deleted message is taken back, every part of it, and only once', async () => {
  await using world = await AgentWorld.open()
  const form = new FormData()
  form.set('content', 'two files')
  form.set('message_type', 'outgoing')
  for (const name of ['a.txt', 'b.txt']) form.append('attachments[]', new Blob([name]), name)
  const { body } = await world.agent.send('POST', `/conversations/${world.conversation}/messages`, form)
  await waitUntil('both files have arrived', () => world.bob.messages.length === 2)
  const ids = world.bob.messages.entries.map(({ id }) => id)
  await world.agent.delete(`/conversations/${world.conversation}/messages/${body.id}`)
  await waitUntil('both are taken back', () => revoked(world.bob).length === 2)
  assert.deepEqual(revoked(world.bob), ids)
  await world.post({
    ...world.callback(body.id, 'gone'),
    event: 'message_updated',
    content_attributes: { deleted: true },
  })
  await world.post(world.callback(9000, 'the end'))
  await world.received('the end')
  assert.equal(revoked(world.bob).length, 2)
})

test('a message deleted before the helpdesk told of it is not sent, nor is the notice of its deletion', async () => {
  const quirks = { ...calm, late: 1, lateMs: [600, 600] as const }
  await using world = await AgentWorld.open({ helpdesk: { quirks } })
  const id = await world.write('never mind')
  await world.agent.delete(`/conversations/${world.conversation}/messages/${id}`)
  const told = ({ event, body }: Delivery) => event === 'message_created' && 'id' in body && body.id === id
  assert.equal((await world.helpdesk.waitForDelivery('the late event', told)).status, 200)
  await world.post(world.callback(9000, 'the end'))
  await world.received('the end')
  assert.deepEqual(world.texts(), ['the end'])
})

test('an edit changes what was sent; what is not ours, too old or not connected is refused', async () => {
  await using world = await AgentWorld.open()
  const { waid } = (await world.post(world.callback(1, 'mistaek'))).body as { waid: string }
  const edit = (id: string, body: object) =>
    world.service.request('POST', `/api/instances/n0/messages/${id}/edit`, { body })
  const chat = '5511888880001@s.whatsapp.net'
  const done = await edit(waid, { chat, content: 'mistake' })
  assert.deepEqual([done.status, done.body], [200, { waid, edited: true }])
  const edited = await world.bob.messages.waitFor(
    'the edit',
    ({ message }) => kindOfMessage(message) === 'protocolMessage',
  )
  assert.equal(unwrap(edited.message).protocolMessage?.key?.id, waid)
  await world.post(world.callback(2, 'as I said', { content_attributes: { in_reply_to: 1 } }))
  const { message: answer } = await world.received('as I said')
  const quoted = unwrap(answer).extendedTextMessage?.contextInfo?.quotedMessage
  assert.equal(quoted && textOfMessage(quoted), 'mistake', 'a quote shows the edited text')
  assertRefused(await edit(waid, { chat }), 'SERVICE_BAD_REQUEST', /content/)
  assertRefused(await edit(waid, { content: 'x' }), 'SERVICE_BAD_REQUEST', /chat/)
  assertRefused(await edit('3EB0NOTOURS', { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /no message of ours/)
  assertRefused(await edit(waid, { chat: '5511888880009@s.whatsapp.net', content: 'x' }), 'SERVICE_NETWORK_FAILED')
  world.network.fault({ kind: 'ack_error', code: 404 })
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /404/)
  await world.service.database.write(
    world.service.database.query.updateTable('message_map').set({ claimed_at: Date.now() - 901_000 }),
  )
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /15 minutes/)
  await world.disconnect()
  await world.service.database.write(
    world.service.database.query.updateTable('message_map').set({ claimed_at: Date.now() }),
  )
  assertRefused(await edit(waid, { chat, content: 'x' }), 'SERVICE_NETWORK_FAILED', /not connected/)
})
