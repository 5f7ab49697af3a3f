// Messages over the account API: shapes, replies, limits, Liquid, statuses, deletion, lists, files.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import type { Answer, Json } from './harness/desk-client.ts'

let helpdesk: SimHelpdesk
let client: DeskClient
let chat: number

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: { ...calm, fileDelayMs: [60_000, 60_000] } })
  client = new DeskClient(helpdesk)
})
beforeEach(async () => {
  await helpdesk.reset()
  chat = await openChat(client, '5511999999999')
})
after(() => helpdesk[Symbol.asyncDispose]())

async function post(body: object, to = chat): Promise<Answer> {
  return client.post(`/conversations/${to}/messages`, body)
}

test('the answer to a message is 200 with a number for its type and unix seconds', async () => {
  const { status, body } = await post({ content: 'hi', message_type: 'incoming', source_id: '3EB0', echo_id: 'e1' })
  assert.equal(status, 200)
  const { sender, ...rest } = body as Json & { sender: Json }
  assert.deepEqual(
    { ...rest, id: 0, created_at: 0 },
    {
      id: 0,
      content: 'hi',
      inbox_id: 1,
      echo_id: 'e1',
      conversation_id: chat,
      message_type: 0,
      content_type: 'text',
      status: 'sent',
      content_attributes: {},
      created_at: 0,
      private: false,
      source_id: '3EB0',
    },
  )
  assert.deepEqual([sender['type'], sender['name']], ['contact', 'Maria'])
  assert.ok(Math.abs(Number(body['created_at']) - helpdesk.clock.now() / 1000) < 5)
  helpdesk.assertNothingRefused()
})

test('the owner of the token is the sender of outgoing messages, the contact of all others', async () => {
  const ana = helpdesk.world.addAgent({ name: 'Ana' })
  const asAna = new DeskClient(helpdesk, ana.token)
  const { body } = await asAna.post(`/conversations/${chat}/messages`, { content: 'hello' })
  assert.deepEqual((body['sender'] as Json).id, ana.id)
  const activity = await post({ content: 'joined', message_type: 'activity' })
  assert.equal((activity.body['sender'] as Json)['type'], 'contact')
  const bot = helpdesk.world.addBot('Robot')
  const byBot = await post({ content: 'beep', sender_type: 'AgentBot', sender_id: bot.id })
  assert.equal((byBot.body['sender'] as Json)['type'], 'agent_bot')
})

test('a reply resolves in its own conversation by id or source_id, otherwise it is null', async () => {
  const first = await post({ content: 'one', message_type: 'incoming', source_id: 'WA1' })
  const attributes = async (contentAttributes: object, to = chat) =>
    (await post({ content: 'two', content_attributes: contentAttributes }, to)).body['content_attributes']
  const both = { in_reply_to: first.body.id, in_reply_to_external_id: 'WA1' }
  assert.deepEqual(await attributes({ in_reply_to: first.body.id }), both)
  assert.deepEqual(await attributes({ in_reply_to_external_id: 'WA1' }), both)
  const other = await openChat(client, '5511888888888')
  const neither = { in_reply_to: null, in_reply_to_external_id: null }
  assert.deepEqual(await attributes({ in_reply_to: first.body.id }, other), neither)
  assert.deepEqual(await attributes({ external_echo: true }), { external_echo: true })
})

test('form fields with brackets become nested values, and they replace the time of the original', async () => {
  const form = new FormData()
  form.append('content', 'sent from the phone')
  form.append('message_type', 'outgoing')
  form.append('source_id', '3EB0PHONE')
  form.append('external_created_at', '1763000000')
  form.append('content_attributes[external_echo]', 'true')
  const { status, body, text } = await client.send('POST', `/conversations/${chat}/messages`, form)
  assert.equal(status, 200, text)
  assert.deepEqual(body['content_attributes'], { external_echo: 'true' })
  const timed = await post({ content: 'old', external_created_at: 1763000000 })
  assert.deepEqual(timed.body['content_attributes'], { external_created_at: 1763000000 })
  helpdesk.assertNothingRefused()
})

test('the same source_id is accepted any number of times', async () => {
  assert.equal((await post({ content: 'a', source_id: 'same' })).status, 200)
  assert.equal((await post({ content: 'a', source_id: 'same' })).status, 200)
  assert.equal(helpdesk.messages(chat).filter((one) => one.sourceId === 'same').length, 2)
})

test('a failed validation gives 422 with an error sentence', async () => {
  const long = await post({ content: 'x'.repeat(150_001) })
  assert.equal(long.status, 422)
  assert.deepEqual(long.body, {
    error: 'Validation failed: Content is too long (maximum is 150000 characters)',
  })
  assert.equal((await post({ content: 'x', message_type: 'rumour' })).status, 422)
  assert.equal((await post({ content: 'x', content_type: 'cards' })).status, 422)
  assert.equal((await post({})).status, 200)
})

test('the 201st message of a minute and every update are refused until the minute is over', async () => {
  const first = await post({ content: '0', message_type: 'incoming' })
  for (let at = 1; at < 200; at++)
    assert.equal((await post({ content: String(at), message_type: 'incoming' })).status, 200)
  const flooded = await post({ content: 'one too many', message_type: 'incoming' })
  assert.deepEqual([flooded.status, flooded.body as unknown], [422, { error: 'Validation failed: Too many messages' }])
  const patched = await client.patch(`/conversations/${chat}/messages/${first.body.id}`, { status: 'read' })
  assert.deepEqual([patched.status, patched.body['message']], [422, 'Too many messages'])
  for (const { id } of helpdesk.messages(chat).slice(0, 5)) helpdesk.world.backdate(id, 1_700_000_000_000)
  assert.equal((await post({ content: 'backdated rows do not count' })).status, 200)
  await helpdesk.advance(61_000)
  assert.equal((await post({ content: 'again' })).status, 200)
})

async function rendered(content: string, type = 'outgoing'): Promise<unknown> {
  return (await post({ content, message_type: type })).body['content']
}

test('outgoing text is rendered with Liquid except in backticks, and incoming text is not', async () => {
  assert.equal(await rendered('Hi {{contact.name}} {{ nothing }}!'), 'Hi Maria !')
  assert.equal(await rendered('`{{contact.name}}` {{ contact.email | default: "none" }}'), '`{{contact.name}}` none')
  assert.equal(await rendered('broken {{ contact'), 'broken {{ contact')
  assert.equal(await rendered('{\u200b{contact.name}}'), '{\u200b{contact.name}}')
  assert.equal(await rendered('{{contact.name}}', 'incoming'), '{{contact.name}}')
})

test('a Liquid condition renders its body only when it is true', async () => {
  assert.equal(await rendered('a {% if x %}b{% endif %} c'), 'a  c')
  assert.equal(await rendered('a {% if true %}b{% endif %} c'), 'a b c')
  assert.equal(await rendered('{% if contact.name == "Maria" %}yes{% else %}no{% endif %}'), 'yes')
  assert.equal(await rendered('{% unless contact.email %}no e-mail{% endunless %}'), 'no e-mail')
})

test('Liquid renders the recorded texts as the original does', async () => {
  const typed = 'on the phone {{contact.name}} `{{contact.name}}` {% if true %}A{% endif %} {{ 1 | plus: 2 }}'
  assert.equal(await rendered(typed), 'on the phone Maria `{{contact.name}}` A 3')
  assert.equal(await rendered('price {{ 50% off {% x'), 'price {{ 50% off {% x')
  assert.equal(await rendered('hello {{name}} and {{foo.bar}}!'), 'hello  and !')
})

test('an unreadable Liquid output renders as nothing, and an unreadable tag leaves the whole text as it is', async () => {
  assert.equal(await rendered('{{contact.name}}: {{ 50% off }}{{ }}!'), 'Maria: !')
  const unreadable = ['{% unknown %}', '{% if contact %}', '{% endif %}', '{% include "a" %}', '{% layout "a" %}']
  for (const tag of unreadable) {
    assert.equal(await rendered(`{{contact.name}} ${tag}`), `{{contact.name}} ${tag}`)
  }
})

test('a Liquid template that needs too much time, memory or tags leaves the text as it is', async () => {
  const loop = (body: string) => `{% for i in (1..1000) %}${body}{% endfor %}`
  const heavy = [
    loop(loop(loop(''))),
    `{% capture a %}${'x'.repeat(10_000)}{% endcapture %}${loop('{{a}}')}`,
    `{% assign a = "xxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(60)}{{a}}`,
    '{{a}}'.repeat(30_000),
    `{{a}}${'``'.repeat(70_000)}`,
    '{% if true %}'.repeat(6_000) + '{% endif %}'.repeat(6_000),
  ]
  for (const [at, text] of heavy.entries()) assert.ok((await rendered(text)) === text, `template ${at}`)
})

test('a PATCH changes only the status, and never from read back to delivered', async () => {
  const { body } = await post({ content: 'hi' })
  const patch = async (changes: object) =>
    (await client.patch(`/conversations/${chat}/messages/${body.id}`, changes)).body as Json & { status: string }
  assert.equal((await patch({ status: 'delivered' })).status, 'delivered')
  const failed = await patch({ status: 'failed', external_error: 'not on WhatsApp' })
  assert.deepEqual(failed['content_attributes'], { external_error: 'not on WhatsApp' })
  assert.deepEqual((await patch({ status: 'read' }))['content_attributes'], { external_error: null })
  assert.equal((await patch({ status: 'delivered' })).status, 'read')
  assert.equal((await patch({ status: 'lost' })).status, 'read')
  assert.equal((await patch({ content: 'edited', source_id: 'x' }))['content'], 'hi')
  assert.equal((await client.patch(`/conversations/${chat}/messages/99999`, { status: 'read' })).status, 404)
  helpdesk.assertNothingRefused()
})

test('a deleted message keeps its row and loses its content, and Retry empties the attributes', async () => {
  const original = await post({ content: 'hi', message_type: 'incoming' })
  const form = new FormData()
  form.append('content', 'secret')
  form.append('attachments[]', new Blob(['x'], { type: 'application/pdf' }), 'a.pdf')
  const sent = await client.send('POST', `/conversations/${chat}/messages`, form)
  const deleted = await client.delete(`/conversations/${chat}/messages/${sent.body.id}`)
  assert.equal(deleted.body['content'], 'This message was deleted')
  assert.deepEqual(deleted.body['content_attributes'], { deleted: true })
  assert.ok(!('attachments' in deleted.body))
  const reply = await post({ content: 'r', content_attributes: { in_reply_to: original.body.id } })
  await client.patch(`/conversations/${chat}/messages/${reply.body.id}`, { status: 'failed', external_error: 'x' })
  const retried = await client.post(`/conversations/${chat}/messages/${reply.body.id}/retry`)
  assert.deepEqual([retried.body['status'], retried.body['content_attributes']], ['sent', {}])
})

test('a list selects messages by id and sorts them by time', async () => {
  for (let at = 0; at < 30; at++) await post({ content: String(at), message_type: 'incoming' })
  const ids = async (query: string) => {
    const { body } = await client.get(`/conversations/${chat}/messages${query}`)
    return (body['payload'] as Json[]).map((one) => one.id)
  }
  const all = helpdesk.messages(chat).map((one) => one.id)
  assert.deepEqual(await ids(''), all.slice(-20))
  assert.deepEqual(await ids(`?before=${all[25] ?? 0}`), all.slice(5, 25))
  assert.deepEqual(await ids(`?after=${all[3] ?? 0}`), all.slice(4))
  assert.deepEqual(await ids(`?after=${all[3] ?? 0}&before=${all[6] ?? 0}`), all.slice(3, 6))
  helpdesk.world.backdate(all.at(-1) ?? 0, 1_700_000_000_000)
  assert.ok(!(await ids('')).includes(all.at(-1) ?? 0))
})

test('a file is behind a redirect to another port, appears after a delay, and its address works for five minutes', async () => {
  const form = new FormData()
  form.append('message_type', 'incoming')
  form.append('private', 'false')
  form.append('content_attributes', JSON.stringify({ mine: true }))
  form.append('attachments[]', new Blob([new Uint8Array(5000).fill(7)], { type: 'image/jpeg' }), 'ph"oto.jpeg')
  form.append('attachments[]', new Blob(['ogg'], { type: 'audio/ogg; codecs=opus' }), 'voice.ogg')
  const { status, body, text } = await client.send('POST', `/conversations/${chat}/messages`, form)
  assert.equal(status, 200, text)
  assert.deepEqual(body['content_attributes'], { mine: true })
  const [image, audio] = body['attachments'] as (Json & { data_url: string })[]
  assert.deepEqual([image?.['file_type'], image?.['extension'], image?.['file_size']], ['image', 'jpeg', 5000])
  assert.deepEqual([audio?.['file_type'], audio?.['content_type']], ['audio', 'audio/ogg'])
  const redirect = await fetch(image?.data_url ?? '', { redirect: 'manual' })
  assert.equal(redirect.status, 302)
  const location = redirect.headers.get('location') ?? ''
  assert.equal(new URL(location).origin, helpdesk.storageUrl)
  assert.notEqual(helpdesk.storageUrl, helpdesk.url)
  assert.equal((await fetch(location)).status, 404)
  await helpdesk.advance(61_000)
  const file = await fetch(location)
  assert.equal(file.headers.get('content-type'), 'image/jpeg')
  assert.equal((await file.bytes()).length, 5000)
  await helpdesk.advance(300_000)
  assert.equal((await fetch(location)).status, 403)
  helpdesk.assertNothingRefused()
  await fetch(location, { headers: { 'Api-Access-Token': 'x' } })
  assert.equal(helpdesk.refusals[0]?.kind, 'leaked_token')
})
