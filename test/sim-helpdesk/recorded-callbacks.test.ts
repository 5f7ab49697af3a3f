// The simulator sends the callbacks that a real Chatwoot 4.14.1 sent for the same cause.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { CallbackStage } from './harness/callback-stage.ts'
import { DeskClient } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'
import { readRecordings, recordingOf } from './harness/recordings.ts'
import type { Fields } from './harness/recordings.ts'
import { assertSame } from './harness/short-callbacks.ts'

/** The recordings that no test here asks for, and why. */
const notAsked: Record<string, string> = {
  'download of data_url the moment the callback arrives, 20 files (half of them 3 MB), local disk storage':
    'a measurement of the disk storage',
  'account webhook create': 'a REST answer without a callback',
  'agent bot connected: conversation created (status pending)': 'replayed in recorded-bots.test.ts',
  'agent bot connected: incoming': 'replayed in recorded-bots.test.ts',
  'callback to the agent bot, headers': 'replayed in recorded-bots.test.ts',
  'agent bot connected: bot replies with input_select': 'replayed in recorded-bots.test.ts',
  'agent bot hands over (open)': 'replayed in recorded-bots.test.ts',
  'agent bot connected: incoming on resolved': 'replayed in recorded-bots.test.ts',
  'status after incoming on resolved with a bot': 'replayed in recorded-bots.test.ts',
  'callback latency and order': 'measured in delivery.test.ts',
}
describe('one conversation from its creation to typing', () => {
  let stage: CallbackStage
  let chat: number
  let answer: number
  const quoted = '**Hello**\nline 2\n\npara `x` [t](https://x.example)'
  const assertRecorded = (what: string, callbacks: readonly Fields[], except: readonly string[] = []) => {
    stage.assertRecorded(['callbacks', what], callbacks, except)
  }
  before(async () => {
    stage = await CallbackStage.open()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('a new conversation and an incoming message', async () => {
    const created = await stage.callbacksOf(async () => {
      chat = await stage.openChat('5521992703885', 'Maria 88f1be7281')
    })
    assertRecorded('conversation_created', created)
    assertRecorded('message_created, incoming', await stage.say(chat, 'question', { source_id: '3EB0INC' }))
  })

  test("an agent's answer with a quote, and its effect on the conversation", async () => {
    const question = stage.desk.messages(chat)[0]?.id
    const callbacks = await stage.callbacksOf(async () => {
      const content_attributes = { in_reply_to: question }
      answer = await stage.write(stage.agent, chat, { content: quoted, content_attributes })
    })
    // The recorded body was built before the conversation had its first reply.
    const moment = ['conversation.first_reply_created_at', 'conversation.waiting_since']
    assertRecorded('message_created, outgoing by an agent with a quote', callbacks, moment)
    assertRecorded('conversation_updated after an agent reply', callbacks)
  })

  test('a status, a resolve, typing and a private note', async () => {
    const path = `/conversations/${chat}/messages/${answer}`
    const patched = await stage.callbacksOf(() => stage.admin.patch(path, { status: 'delivered' }))
    assertRecorded('message_updated (status delivered)', patched)
    const toggle = { status: 'resolved' }
    const resolved = await stage.callbacksOf(() => stage.agent.post(`/conversations/${chat}/toggle_status`, toggle))
    assertRecorded('conversation_status_changed', resolved)
    const typing = (body: object) =>
      stage.callbacksOf(() => stage.agent.post(`/conversations/${chat}/toggle_typing_status`, body))
    assertRecorded('conversation_typing_on', await typing({ typing_status: 'on' }))
    assertRecorded('conversation_typing_off', await typing({ typing_status: 'off' }))
    const hidden = await typing({ typing_status: 'on', is_private: true })
    assertSame(hidden, 'typing in the private note box')
    assert.deepEqual(
      hidden.map(({ event, is_private }) => [event, is_private]),
      [['conversation_typing_on', true]],
    )
    const content = 'secret note [@Alan Agent](mention://user/2/Alan%20Agent)'
    const note = await stage.callbacksOf(() => stage.write(stage.agent, chat, { content, private: true }))
    assertSame(note, 'private note by an agent')
    assertRecorded('message_created, private note', note)
  })

  test('the reply after the agent has looked carries the time of the look', async () => {
    await stage.say(chat, 'another question')
    await stage.agent.post(`/conversations/${chat}/update_last_seen`)
    const callbacks = await stage.callbacksOf(() => stage.write(stage.agent, chat, { content: 'answer' }))
    const what = 'dashboard order: update_last_seen, then reply: conversation_updated carries'
    const [fields] = recordingOf('callbacks', what)['fields'] as Fields[]
    const updated = callbacks.find(({ event }) => event === 'conversation_updated')
    assert.ok(Number(updated?.['agent_last_seen_at']) > 0)
    assert.ok(updated)
    assert.equal(updated['unread_count'], fields?.['unread_count'])
    const changed = (updated['changed_attributes'] as Fields[]).flatMap((each) => Object.keys(each))
    assert.deepEqual(changed.toSorted(), (fields?.['changed'] as string[]).toSorted())
  })

  test('a Retry sends the old attributes and then none', async () => {
    const original = stage.desk.messages(chat)[0]?.id
    const content_attributes = { in_reply_to: original, mine: 1 }
    const id = await stage.write(stage.agent, chat, { content: 'will fail', content_attributes })
    const path = `/conversations/${chat}/messages/${id}`
    await stage.admin.patch(path, { status: 'failed', external_error: 'no' })
    const retried = await stage.callbacksOf(() => stage.agent.post(`${path}/retry`))
    const wanted = readRecordings('retry').filter(({ what }) => what.startsWith('callback after retry'))
    assert.deepEqual(
      retried.map(({ event, content_attributes: attributes, conversation }) => [
        event,
        Object.keys(attributes as object).toSorted(),
        (attributes as Json)['external_error'],
        (conversation as { messages: Json[] }).messages[0]?.['status'],
      ]),
      wanted.map(({ body }) => {
        const { event, content_attributes: attributes, conversation } = body as Fields
        const { messages } = conversation as { messages: Json[] }
        const { external_error: error } = attributes as Fields
        return [event, Object.keys(attributes as object).toSorted(), error, messages[0]?.['status']]
      }),
    )
    const again = await stage.callbacksOf(() => stage.agent.post(`${path}/retry`))
    assert.deepEqual(again, [], 'a sent message without attributes reports nothing')
    await stage.admin.patch(path, { status: 'read' })
    const read = await stage.callbacksOf(() => stage.agent.post(`${path}/retry`))
    assert.equal(read.length, 1)
  })
})

describe('other causes', () => {
  let stage: CallbackStage
  let chat: number
  before(async () => {
    stage = await CallbackStage.open()
    chat = await stage.openChat('5521992703899', 'Maria 650bfb8193')
  })
  after(() => stage[Symbol.asyncDispose]())

  test('a macro writes, notes and resolves as its agent', async () => {
    await stage.say(chat, 'hi')
    const callbacks = await stage.callbacksOf(async () => {
      await stage.write(stage.agent, chat, { content: 'From macro {{contact.name}}' })
      await stage.write(stage.agent, chat, { content: 'macro note', private: true })
      await stage.desk.settled()
      await stage.agent.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
    })
    assertSame(callbacks, 'macro executed by an agent: send_message, add_private_note, resolve_conversation')
    stage.assertRecorded(['callbacks', 'message_created by a macro, in full'], callbacks)
  })

  test('a merge reports every incoming message that moves', async () => {
    const base = await stage.openChat('5521992703910', 'MB')
    const mergee = await stage.openChat('5521992703911', 'MM')
    for (const content of ['mm0', 'mm1', 'mm2']) await stage.say(mergee, content)
    await stage.write(stage.agent, mergee, { content: 'answer' })
    const contactOf = (id: number) => stage.desk.see.conversations((each) => each.id === id)[0]?.contactId
    const body = { base_contact_id: contactOf(base), mergee_contact_id: contactOf(mergee) }
    const callbacks = await stage.callbacksOf(() => stage.admin.post('/actions/contact_merge', body))
    assertSame(callbacks, 'contact merge: mergee had 3 incoming + 1 outgoing message')
  })

  test('three files come with their kinds, and the audio file brings an update', async () => {
    const form = new FormData()
    for (const [name, type] of [
      ['a.mp3', 'audio/mpeg'],
      ['b.jpg', 'image/jpeg'],
      ['c.pdf', 'application/pdf'],
    ] as const) {
      form.append('attachments[]', new Blob(['x'], { type }), name)
    }
    const callbacks = await stage.callbacksOf(() => stage.agent.send('POST', `/conversations/${chat}/messages`, form))
    const kinds = (list: Fields[]) =>
      list
        .filter(({ event }) => String(event).startsWith('message'))
        .map(({ event, attachments }) => [event, (attachments as Json[]).map((each) => each['file_type'])])
    const what = 'three attachments sent as mp3, jpg, pdf'
    const recorded = (recordingOf('callbacks', what)['callbacks'] as Fields[]).map(({ event, attachments }) => [
      event,
      (attachments as [number, string][]).map(([, kind]) => kind),
    ])
    assert.deepEqual(kinds(callbacks), recorded)
  })

  test("a bot's question with choices", async () => {
    const bot = new DeskClient(stage.desk, stage.desk.world.addBot('contract-bot3').token)
    const pending = await stage.openChat('5521992703912', 'Maria', { status: 'pending' })
    const content_attributes = { items: [{ title: 'A', value: 'a' }] }
    const body = { content: 'bot says', content_type: 'input_select', content_attributes }
    const callbacks = await stage.callbacksOf(() => stage.write(bot, pending, body))
    stage.assertRecorded(['callbacks', 'message_created by an agent bot'], callbacks)
  })

  test('an account webhook gets the same events with its own secret, and the contacts too', async () => {
    const url = stage.bridge.url.replace('/hook', '/account')
    const subscriptions = ['message_created', 'conversation_created', 'contact_created', 'contact_updated']
    await stage.admin.post('/webhooks', { webhook: { url, subscriptions } })
    const callbacks = await stage.callbacksOf(async () => {
      const id = await stage.openChat('5521992703901', 'Maria 114f69c896')
      await stage.write(stage.admin, id, { content: 'hi', message_type: 'incoming' })
    })
    stage.assertRecorded(['callbacks', 'contact_created (account webhook only)'], callbacks)
    stage.assertRecorded(['callbacks', 'contact_updated (account webhook only)'], callbacks)
    const what = 'account webhook and inbox webhook on the same listener'
    const recorded = (recordingOf('callbacks', what)['received'] as Fields[]).map(
      ({ path, event }) => `${String(path)} ${String(event)}`,
    )
    const got = stage.bridge.caught.entries.map(({ path, event }) => `${path} ${event}`)
    // The real contact_updated comes twice, because two columns are written one after the other.
    assert.deepEqual([...new Set(got)].toSorted(), [...new Set(recorded)].toSorted())
    const ids = stage.bridge.caught.entries.map(({ headers }) => headers['x-chatwoot-delivery'])
    assert.equal(new Set(ids).size, ids.length)
  })

  test('the headers on the wire, and a body that escapes what HTML gives a meaning', async () => {
    const id = await stage.openChat('5521992703913', 'Maria')
    await stage.callbacksOf(() => stage.write(stage.agent, id, { content: 'ü 👩‍👩‍👧 <b>&amp;\u2028 \\' }))
    const { headers, raw } = await stage.bridge.waitFor('message_created')
    const excerpt = String(recordingOf('callbacks', 'signature with emoji and < > &')['raw_excerpt'])
    assert.ok(raw.includes(excerpt), raw.slice(0, 300))
    const recorded = recordingOf('callbacks', 'header names as sent on the wire')['headers'] as Fields
    // Node adds `connection: close`, Ruby asks for compression.
    const names = (given: object) =>
      Object.keys(given).filter((name) => !['connection', 'accept-encoding'].includes(name))
    assert.deepEqual(names(headers).toSorted(), names(recorded).toSorted())
    assert.equal(headers['user-agent'], recorded['user-agent'])
  })

  test('after reset_secret only the new secret signs', async () => {
    const before = stage.desk.inbox.secret
    await stage.admin.post('/inboxes/1/reset_secret')
    assert.notEqual(stage.desk.inbox.secret, before)
  })
})

test('every recorded callback is named in a test or listed with its reason', () => {
  const files = ['recorded-callbacks.test.ts', 'recorded-templates.test.ts']
  const tests = files.map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')).join('\n')
  const missing = readRecordings('callbacks').filter(({ what }) => !tests.includes(what) && !(what in notAsked))
  assert.deepEqual(missing, [])
})
