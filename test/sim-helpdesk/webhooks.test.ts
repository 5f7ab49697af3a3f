// Webhooks: their events, bodies and signatures, and the effects of failed deliveries.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let helpdesk: SimHelpdesk
let client: DeskClient
let bridge: WebhookCatcher

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
  bridge = await WebhookCatcher.start()
})
beforeEach(async () => {
  await helpdesk.reset()
  await helpdesk.settled()
  bridge.caught.clear()
  bridge.reply = (_, response) => {
    response.end('{}')
  }
  await client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
})
after(async () => {
  await helpdesk[Symbol.asyncDispose]()
  await bridge[Symbol.asyncDispose]()
})

const names = () => bridge.caught.entries.map((one) => one.event).toSorted()
const say = (to: number, body: object, by = client) => by.post(`/conversations/${to}/messages`, body)

test('all seven events arrive, also for private notes and never for activity messages', async () => {
  const chat = await openChat(client, '5511')
  const asAna = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana' }).token)
  await say(chat, { content: 'hello' }, asAna)
  await say(chat, { content: 'note', private: true }, asAna)
  await say(chat, { content: 'joined', message_type: 'activity' })
  await asAna.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'on' })
  await asAna.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'off' })
  await asAna.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
  await client.patch(`/conversations/${chat}/messages/1`, { status: 'delivered' })
  await helpdesk.settled()
  assert.deepEqual(names(), [
    'conversation_created',
    'conversation_status_changed',
    'conversation_typing_off',
    'conversation_typing_on',
    'conversation_updated',
    'conversation_updated',
    'message_created',
    'message_created',
    'message_updated',
  ])
  helpdesk.assertNothingRefused()
})

test('an outgoing message carries strings, ISO times, the agent, and the conversation with its contact', async () => {
  const chat = await openChat(client, '5511')
  const ana = helpdesk.world.addAgent({ name: 'Ana' })
  const sent = await say(chat, { content: 'line\\\nnext' }, new DeskClient(helpdesk, ana.token))
  const { body } = await bridge.waitFor('message_created')
  assert.equal(body['message_type'], 'outgoing')
  assert.equal(body['content'], 'line\nnext')
  assert.match(String(body['created_at']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.deepEqual([body['id'], body['source_id'], 'status' in body], [sent.body.id, null, false])
  assert.equal((body['sender'] as Json)['type'], 'user')
  const conversation = body['conversation'] as Json & { contact_inbox: Json; meta: { sender: Json } }
  assert.equal(conversation.id, chat)
  assert.equal(conversation.contact_inbox['source_id'], '5511')
  assert.equal(conversation.meta.sender['identifier'], '5511@s.whatsapp.net')
})

test('the sender of an incoming message has no type, and a private note shows the public message before it', async () => {
  const chat = await openChat(client, '5511')
  const first = await say(chat, { content: 'hi', message_type: 'incoming', source_id: 'WA1' })
  const { body } = await bridge.waitFor('message_created')
  assert.ok(!('type' in (body['sender'] as Json)))
  await say(chat, { content: 'note', private: true })
  const note = await bridge.waitFor('message_created', (one) => one['private'] === true)
  const { messages } = note.body['conversation'] as { messages: Json[] }
  assert.deepEqual(
    messages.map((one) => one.id),
    [first.body.id],
  )
})

test('the signature covers the timestamp, a dot and the body, with the secret of the channel', async () => {
  await openChat(client, '5511')
  const { headers, raw } = await bridge.waitFor('conversation_created')
  const timestamp = String(headers['x-chatwoot-timestamp'])
  const hex = createHmac('sha256', helpdesk.facts.webhook_secret).update(`${timestamp}.${raw}`).digest('hex')
  assert.equal(headers['x-chatwoot-signature'], `sha256=${hex}`)
  assert.match(String(headers['x-chatwoot-delivery']), /^[0-9a-f-]{36}$/)
})

test('credentials in the address become basic authentication, and old versions do not sign', async () => {
  await using old = await SimHelpdesk.start({ quirks: calm, signWebhooks: false })
  const oldClient = new DeskClient(old)
  const url = new URL(`${bridge.url}?key=1`)
  url.username = 'cause'
  url.password = 'way'
  await oldClient.patch('/inboxes/1', { channel: { webhook_url: url.href } })
  await openChat(oldClient, '5511')
  const { headers } = await bridge.waitFor('conversation_created')
  assert.equal(headers.authorization, `Basic ${btoa('cause:way')}`)
  assert.ok(!('x-chatwoot-signature' in headers))
})

test('an answer other than 2xx fails the message with a reason, also an incoming one, and is not repeated', async () => {
  const chat = await openChat(client, '5511')
  await helpdesk.settled()
  bridge.reply = (_, response) => {
    response.writeHead(503).end()
  }
  await say(chat, { content: 'hi', message_type: 'incoming' })
  await say(chat, { content: 'note', private: true })
  await helpdesk.settled()
  assert.deepEqual(
    helpdesk.messages(chat).map((one) => [one.status, one.contentAttributes]),
    [1, 2].map(() => ['failed', { external_error: '503 Service Unavailable' }]),
  )
  assert.equal(bridge.events('message_created').length, 2)
  assert.equal(bridge.events('message_updated').length, 2, 'the failure itself is told once')
})

test('five seconds without an answer fail the message', async () => {
  const chat = await openChat(client, '5511')
  await helpdesk.settled()
  bridge.reply = ({ event }, response) => {
    if (event !== 'message_created') response.end()
  }
  await say(chat, { content: 'hi' })
  await bridge.waitFor('message_created')
  await helpdesk.advance(5100)
  const failed = await helpdesk.waitForMessage(chat, (one) => one.status === 'failed', 3000)
  assert.match(String(failed.contentAttributes['external_error']), /ReadTimeout/)
})

test('a refused connection and a private address fail the message too', async () => {
  const chat = await openChat(client, '5511')
  await client.patch('/inboxes/1', { channel: { webhook_url: 'http://127.0.0.1:1/' } })
  await say(chat, { content: 'hi' })
  const failed = await helpdesk.waitForMessage(chat, (one) => one.status === 'failed', 3000)
  assert.match(String(failed.contentAttributes['external_error']), /Connection refused/)
  await using strict = await SimHelpdesk.start({ quirks: calm, allowPrivateNetwork: false })
  const strictClient = new DeskClient(strict)
  await strictClient.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  const other = await openChat(strictClient, '5511')
  await say(other, { content: 'hi' }, strictClient)
  const refused = await strict.waitForMessage(other, (one) => one.status === 'failed', 3000)
  assert.equal(refused.contentAttributes['external_error'], "Hostname '127.0.0.1' has no public ip addresses")
})

test("an agent's answer clears the waiting time, and a status change sends two events", async () => {
  const chat = await openChat(client, '5511')
  const asAna = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana' }).token)
  await asAna.post(`/conversations/${chat}/update_last_seen`)
  await say(chat, { content: 'hello' }, asAna)
  const { body } = await bridge.waitFor('conversation_updated')
  const changed = (body['changed_attributes'] as object[]).flatMap((one) => Object.keys(one))
  assert.deepEqual(changed, ['updated_at', 'first_reply_created_at', 'waiting_since'])
  assert.ok(Number(body['agent_last_seen_at']) > 0)
  await client.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
  const status = await bridge.waitFor('conversation_status_changed')
  assert.deepEqual([status.body['status'], status.body['changed_attributes']], ['resolved', null])
  await bridge.waitFor('conversation_updated', (one) => one['status'] === 'resolved')
})

test('reading a conversation sends no event', async () => {
  const chat = await openChat(client, '5511')
  await say(chat, { content: 'hi', message_type: 'incoming' })
  await helpdesk.settled()
  bridge.caught.clear()
  await client.post(`/conversations/${chat}/update_last_seen`)
  await helpdesk.settled()
  assert.deepEqual(names(), [])
})

test('an audio file sends one more message_updated, as the default images do', async () => {
  const chat = await openChat(client, '5511')
  const form = new FormData()
  form.append('attachments[]', new Blob(['x'], { type: 'audio/mpeg' }), 'voice.mp3')
  const { body } = await client.send('POST', `/conversations/${chat}/messages`, form)
  const updated = await bridge.waitFor('message_updated')
  assert.equal(updated.body['id'], body.id)
})

test('an account webhook gets every event a second time, with another id', async () => {
  await client.post('/webhooks', { webhook: { url: bridge.url, subscriptions: ['message_created'] } })
  const chat = await openChat(client, '5511')
  await say(chat, { content: 'hi' })
  await helpdesk.settled()
  const ids = bridge.events('message_created').map((one) => one.headers['x-chatwoot-delivery'])
  assert.equal(new Set(ids).size, 2)
})

async function quirky(options: SimHelpdeskOptions) {
  const stack = new AsyncDisposableStack()
  const desk = stack.use(await SimHelpdesk.start(options))
  const caller = new DeskClient(desk)
  await caller.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  return { desk, caller, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('an early webhook arrives before the answer to the POST that caused it', async () => {
  await using eager = await quirky({ quirks: { ...calm, early: 1, earlyHoldMs: 10_000 } })
  const chat = await openChat(eager.caller, '5511')
  await say(chat, { content: 'hi', source_id: 'WA1' }, eager.caller)
  const answeredAt = performance.now()
  const [early] = bridge.events('message_created')
  assert.ok(early && early.at < answeredAt, 'the webhook had not come when the POST was answered')
})

test('an early webhook whose handler waits for the POST delays the answer only briefly', async () => {
  await using eager = await quirky({ quirks: { ...calm, early: 1 } })
  bridge.reply = ({ event }, response) => {
    if (event !== 'message_created') response.end()
  }
  const chat = await openChat(eager.caller, '5511')
  assert.equal((await say(chat, { content: 'hi' }, eager.caller)).status, 200)
})

test('an event that is delivered twice has two delivery ids', async () => {
  await using double = await quirky({ quirks: { ...calm, twice: 1 } })
  const chat = await openChat(double.caller, '5511')
  await say(chat, { content: 'hi' }, double.caller)
  await double.desk.settled()
  const twice = bridge.events('message_created')
  assert.equal(twice.length, 2)
  assert.notEqual(twice[0]?.headers['x-chatwoot-delivery'], twice[1]?.headers['x-chatwoot-delivery'])
})

test('message_updated may overtake a late message_created', async () => {
  await using late = await quirky({ quirks: { ...calm, late: 1, lateMs: [60_000, 60_000] } })
  const chat = await openChat(late.caller, '5511')
  const { body } = await say(chat, { content: 'hi' }, late.caller)
  await late.caller.patch(`/conversations/${chat}/messages/${body.id}`, { status: 'delivered' })
  await bridge.waitFor('message_updated')
  await late.desk.advance(61_000)
  await late.desk.settled()
  assert.deepEqual(
    bridge.caught.entries.map((one) => one.event).filter((one) => one.startsWith('message')),
    ['message_updated', 'message_created'],
  )
})

test('a jump of one hour does not make an answering bridge look slow', async () => {
  await using late = await quirky({ quirks: { ...calm, delayMs: [60_000, 600_000] } })
  const chat = await openChat(late.caller, '5511')
  for (let at = 0; at < 10; at++) await say(chat, { content: String(at) }, late.caller)
  await late.desk.advance(3_600_000)
  await late.desk.settled()
  assert.deepEqual(new Set(late.desk.messages(chat).map((one) => one.status)), new Set(['sent']))
  assert.equal(bridge.events('message_created').length, 10)
})
