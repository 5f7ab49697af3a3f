// The public client API: the contact's calls, which need no token.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let helpdesk: SimHelpdesk
let client: DeskClient
let bridge: WebhookCatcher
let base: string

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
  bridge = await WebhookCatcher.start()
})
beforeEach(async () => {
  await helpdesk.reset()
  bridge.caught.clear()
  await client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  base = `//public/api/v1/inboxes/${helpdesk.inbox.identifier}`
})
after(async () => {
  await helpdesk[Symbol.asyncDispose]()
  await bridge[Symbol.asyncDispose]()
})

test('repeated calls find or create one contact', async () => {
  const first = await client.post(`${base}/contacts`, { source_id: 'abc', name: 'Maria', identifier: 'm@lid' })
  const again = await client.post(`${base}/contacts`, { source_id: 'abc' })
  assert.deepEqual([again.status, again.body.id], [200, first.body.id])
  const nameless = await client.post(`${base}/contacts`, {})
  assert.ok(String(nameless.body['name']).length > 0)
})

test('with identity validation a wrong hash gives 500', async () => {
  await client.patch('/inboxes/1', { channel: { hmac_mandatory: true } })
  const { body } = await client.get('/inboxes/1')
  const hash = createHmac('sha256', String(body['hmac_token'])).update('m@lid').digest('hex')
  assert.equal((await client.post(`${base}/contacts`, { identifier: 'm@lid', identifier_hash: 'x' })).status, 500)
  assert.equal((await client.post(`${base}/contacts`, { identifier: 'm@lid', identifier_hash: hash })).status, 200)
})

test("the contact's typing reaches the dashboard and the bridge", async () => {
  const chat = await openChat(client, '5511')
  const typed = await client.post(`${base}/contacts/5511/conversations/${chat}/toggle_typing`, { typing_status: 'on' })
  assert.deepEqual([typed.status, typed.text], [200, ''])
  const { body } = await bridge.waitFor('conversation_typing_on')
  const user = body['user'] as Record<string, unknown>
  assert.ok(!('type' in user) && 'phone_number' in user)
  assert.equal(body['is_private'], false)
})

test('messages that the contact has seen become read, with one message_updated each', async () => {
  const chat = await openChat(client, '5511')
  for (const content of ['a', 'b']) await client.post(`/conversations/${chat}/messages`, { content })
  await client.post(`/conversations/${chat}/messages`, { content: 'theirs', message_type: 'incoming' })
  await client.post(`${base}/contacts/5511/conversations/${chat}/update_last_seen`)
  await helpdesk.settled()
  assert.deepEqual(
    helpdesk.messages(chat).map((one) => one.status),
    ['read', 'read', 'sent'],
  )
  assert.equal(bridge.events('message_updated').length, 2)
})

test('a source_id with a dot does not route, and a missing record gives JSON', async () => {
  const dotted = '5511@s.whatsapp.net'
  const chat = await openChat(client, dotted)
  const typing = { typing_status: 'on' }
  const raw = await client.post(`${base}/contacts/${dotted}/conversations/${chat}/toggle_typing`, typing)
  assert.equal(raw.status, 404)
  assert.match(raw.text, /^<!DOCTYPE html>/)
  assert.equal(helpdesk.refusals.at(-1)?.kind, 'unknown_route')
  const other = await client.post(`${base}/contacts/5512/conversations/${chat}/toggle_typing`, typing)
  assert.deepEqual([other.status, other.body as unknown], [404, { status: 404, error: 'Not Found' }])
  const at = await openChat(client, '5511@lid')
  assert.equal((await client.post(`${base}/contacts/5511@lid/conversations/${at}/toggle_typing`, typing)).status, 200)
})

test('a message posted here is incoming and has no source_id', async () => {
  const chat = await openChat(client, '5511')
  const path = `${base}/contacts/5511/conversations/${chat}/messages`
  const { status, body } = await client.post(path, { content: 'hi', echo_id: 'e' })
  assert.deepEqual([status, body['message_type'], 'echo_id' in body], [200, 0, false])
  assert.equal((await client.post(path, { content: 'hi', source_id: 'x' })).status, 400)
  await client.post(`${base}/contacts/5511/conversations/${chat}/toggle_status`)
  assert.equal(helpdesk.see.conversations()[0]?.status, 'resolved')
})
