// Messages of the history at the helpdesk: as live ones look, once, with their outcome.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import { SentMessageStore } from '../../../src/storage/stores/messages/sent-message-store.ts'
import { desk, envelope, message, person } from '../../bridge/inbound/harness/bridge-bed.ts'
import { eventAbout } from '../../bridge/inbound/harness/event-about.ts'
import { engines } from '../../harness/databases.ts'
import { PostingBed } from '../harness/posting-bed.ts'
import { holds } from '../../harness/holds.ts'

const ana = { phone: '5511900001111', lid: null }
const group = { kind: 'group' as const, id: '120363000000000001' }

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    test('texts are posted oldest first, own ones as echo, with their time and their outcome', async () => {
      await using bed = await PostingBed.open({ engine })
      const second = message('two', { at: 2000, fromMe: true })
      const first = message('one', { at: 1000 })
      assert.deepEqual(await bed.import(second, first), ['posted', 'posted'])
      assert.deepEqual(
        bed.helpdesk.messages.map(({ type, content, isEcho, sentAt }) => [type, content, isEcho, sentAt]),
        [
          ['incoming', 'one', false, 1000],
          ['outgoing', 'two', true, 2000],
        ],
      )
      assert.deepEqual(await bed.counts(first), { posted: 2, skipped: 0, filtered: 0, error: 0 })
      assert.deepEqual(await bed.counted(), { ok: 2 })
    })

    test('no read receipt is ever due for an imported message', async () => {
      await using bed = await PostingBed.open({ engine })
      await bed.import(message('one'), message('two'))
      const sent = new SentMessageStore(bed.bridge.database, holds.holdOf)
      const unread = await sent.unread(desk.key, bed.conversation.id, Number.MAX_SAFE_INTEGER, 10)
      assert.deepEqual(unread, { messages: [], isPosting: false })
    })
  })
}

test('a group message names its sender, each time', async () => {
  await using bed = await PostingBed.open({ environment: { SERVICE_GROUP_HEADER_TTL: '1h' } })
  await bed.import(
    message('one', { chat: group, sender: ana, pushName: 'Ana' }),
    message('two', { chat: group, sender: ana, pushName: 'Ana' }),
  )
  assert.deepEqual(bed.helpdesk.contents, ['`+5511900001111 · ~Ana`\n\none', '`+5511900001111 · ~Ana`\n\ntwo'])
})

test('quotes, edits, deletions and reactions answer their message in the same conversation', async () => {
  await using bed = await PostingBed.open()
  const original = message('one', { id: 'W-one' })
  const quote = { id: 'W-one', sender: original.sender, fromMe: false, text: 'one' }
  const about = (['reaction', 'edit', 'revoke'] as const).map((kind) => eventAbout(kind, original))
  await bed.import(original, message('two', { at: 1500, quote }), ...about)
  const [first, ...others] = bed.helpdesk.messages
  assert.equal(others.length, 4)
  assert.deepEqual(
    others.map(({ inReplyTo }) => inReplyTo),
    others.map(() => first?.id),
  )
})

test('quotes of the history have the style of the instance', async () => {
  await using bed = await PostingBed.open()
  const original = message('one', { id: 'W-one' })
  const quote = { id: 'W-one', sender: original.sender, fromMe: false, text: 'one' }
  bed.bridge.own.set('a', { quote_style: 'bubble' })
  await bed.import(original, message('two', { at: 1500, quote }))
  bed.bridge.own.set('a', { quote_style: 'text' })
  await bed.import(message('three', { at: 1600, quote }))
  const [first, bubble, text] = bed.helpdesk.messages
  assert.deepEqual([bubble?.content, bubble?.inReplyTo], ['two', first?.id])
  assert.deepEqual([text?.content, text?.inReplyTo], ['> `↪ +5511988887777 · ~Maria`\n> one\n\nthree', null])
})

test('a quote of a message in another conversation is only shown', async () => {
  await using bed = await PostingBed.open()
  const live = message('live', { id: 'W-live' })
  await bed.bridge.receive(live)
  await bed.bridge.posted(1)
  await bed.bridge.drained()
  const other = await bed.helpdesk.openConversation(desk.key, 'history')
  bed.conversation = { id: other.id, newest: 0 }
  const quote = { id: 'W-live', sender: live.sender, fromMe: false, text: 'live' }
  await bed.import(message('about it', { quote }))
  const [, posted] = bed.helpdesk.messages
  assert.deepEqual([posted?.inReplyTo, posted?.content.endsWith('> live\n\nabout it')], [null, true])
})

test('an event that agents are not shown is filtered, and asks for no conversation', async () => {
  await using bed = await PostingBed.open()
  const reaction: NetworkEvent = { ...eventAbout('reaction', message('one')), fromMe: true }
  assert.deepEqual(await bed.import(reaction), ['filtered'])
  assert.deepEqual([bed.asked, bed.helpdesk.messages.length], [0, 0])
  assert.deepEqual(await bed.counted(), { filtered: 1 })
})

test('a message that came live is skipped, and asks for no conversation', async () => {
  await using bed = await PostingBed.open()
  const live = message('one')
  await bed.bridge.receive(live)
  await bed.bridge.posted(1)
  await bed.bridge.drained()
  assert.deepEqual(await bed.import(live), ['skipped'])
  assert.deepEqual([bed.asked, bed.helpdesk.messages.length], [0, 1])
  assert.deepEqual(await bed.counted(), { duplicate: 1 })
})

test('a message that an agent sent through the service is skipped', async () => {
  await using bed = await PostingBed.open()
  const { database, set } = bed.bridge
  const event = message('hello', { fromMe: true })
  const { id: chatId } = await set.people.upsert('a', event.chat.kind === 'person' ? event.chat : ana)
  const networkKey = { chat: '5511988887777@s.whatsapp.net', id: event.id, fromMe: true, participant: null }
  const sent = new SentMessageStore(database, holds.holdOf)
  const place = { instance: 'a', destination: desk.key, chatId, conversationId: bed.conversation.id, messageId: 7 }
  const facts = { kind: 'message', content: {}, at: 1, networkAt: event.at }
  await database.write(sent.insertStep({ id: 'row', networkKey, ...place, ...facts }))
  assert.deepEqual(await bed.import(event), ['skipped'])
  assert.equal(bed.helpdesk.messages.length, 0)
})

test('a live message that the helpdesk does not take yet is left to the live post', async () => {
  await using bed = await PostingBed.open()
  const live = message('one')
  let isAway = true
  const isTried = Promise.withResolvers<undefined>()
  bed.helpdesk.script = (call) => {
    if (!isAway || call !== 'post') return
    isTried.resolve(undefined)
    throw new DownstreamError('transient', 'busy')
  }
  await bed.bridge.receive(live)
  await isTried.promise
  await bed.bridge.settle()
  assert.deepEqual(await bed.import(live), ['skipped'])
  isAway = false
  await bed.bridge.postedWithin(1, 120_000)
  await bed.bridge.drained()
  assert.deepEqual(bed.helpdesk.contents, ['one'])
})

test('a message that comes live while it is imported is posted once, however long the POST takes', async () => {
  await using bed = await PostingBed.open()
  const both = message('one')
  const taken = Promise.withResolvers<undefined>()
  const isPosting = Promise.withResolvers<undefined>()
  bed.helpdesk.script = async (call) => {
    if (call !== 'post') return
    bed.helpdesk.script = () => undefined
    isPosting.resolve(undefined)
    await taken.promise
  }
  await bed.keep(both)
  const imported = bed.run([both])
  await isPosting.promise
  await bed.bridge.receive(both)
  for (let passed = 0; passed < 60_000; passed += 5000) await bed.bridge.pass(5000)
  taken.resolve(undefined)
  assert.deepEqual(await imported, ['posted'])
  await bed.bridge.drainedWithin(60_000)
  assert.deepEqual(bed.helpdesk.contents, ['one'])
})

test('a message that an earlier import has posted is skipped', async () => {
  await using bed = await PostingBed.open()
  const event = message('one')
  await bed.import(event)
  await bed.bridge.database.write(bed.bridge.database.query.deleteFrom('history_messages'))
  assert.deepEqual(await bed.import(event), ['skipped'])
  assert.equal(bed.helpdesk.messages.length, 1)
})

test('a message that only the helpdesk knows is skipped, and the helpdesk is asked once for a chat', async () => {
  await using bed = await PostingBed.open()
  const old = message('one', { at: 1000 })
  await bed.import(old)
  const { database } = bed.bridge
  await database.write(database.query.deleteFrom('history_messages'))
  await database.write(database.query.deleteFrom('message_map'))
  bed.helpdesk.calls.length = 0
  const [first, ...others] = [old, message('two', { at: 2000 }), message('three', { at: 3000 })]
  await bed.keep(first, ...others)
  assert.deepEqual(await bed.run([first], { jobId: 'job-2' }), ['skipped', 'posted', 'posted'])
  assert.deepEqual(bed.helpdesk.contents, ['one', 'two', 'three'])
  assert.equal(bed.helpdesk.calls.filter((call) => call === 'conversationsSince').length, 1)
})

test('the helpdesk is asked once for each of many chats that are imported side by side', async () => {
  await using bed = await PostingBed.open()
  const chats = Array.from({ length: 40 }, (_, index) => person(`55119${10_000_000 + index}`))
  // The first messages of all chats come before the second ones.
  const events = [1000, 2000].flatMap((at) => chats.map((chat) => message('hello', { at, chat, sender: chat })))
  await bed.import(...events)
  assert.equal(bed.helpdesk.messages.length, 80)
  // The contacts were new, so they had no conversations.
  assert.equal(bed.helpdesk.calls.filter((call) => call === 'conversationsSince').length, 0)
})

test('the conversations of another account that shares the helpdesk inbox do not count', async () => {
  await using bed = await PostingBed.open({ instances: ['a', 'b'] })
  const event = message('one', { chat: group, sender: ana })
  await bed.bridge.receive(event, 'b')
  await bed.bridge.posted(1)
  await bed.bridge.drained()
  const theirs = bed.helpdesk.messages[0]?.conversationId
  const own = await bed.helpdesk.openConversation(desk.key, `group-${group.id}`)
  bed.conversation = { id: own.id, newest: 0 }
  assert.deepEqual(await bed.import(event), ['posted'])
  assert.notEqual(bed.helpdesk.messages[1]?.conversationId, theirs)
})

test('after a crash between the POST and the commit the message is found and counts as posted', async () => {
  await using bed = await PostingBed.open()
  const event = message('one')
  const completed = await bed.bridge.refuseCompletions()
  await bed.keep(event)
  const running = bed.run([event])
  await bed.bridge.posted(1)
  bed.stopping.abort()
  await running
  assert.deepEqual(await bed.counts(event), { posted: 0, skipped: 0, filtered: 0, error: 0 })
  await bed.bridge.restart({ crash: true })
  await completed()
  const again = new AbortController()
  Object.assign(bed, { stopping: again })
  assert.deepEqual(await bed.run([event]), ['posted'])
  assert.equal(bed.helpdesk.messages.length, 1)
  assert.deepEqual(await bed.counts(event), { posted: 1, skipped: 0, filtered: 0, error: 0 })
})

test('a lost answer is searched for, and the message is not posted twice', async () => {
  await using bed = await PostingBed.open()
  bed.helpdesk.afterPost = () => {
    bed.helpdesk.afterPost = () => undefined
    throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
  }
  assert.deepEqual(await bed.import(message('one')), ['posted'])
  assert.equal(bed.helpdesk.messages.length, 1)
})

test('a helpdesk that is away is an error for the caller, and the next attempt posts at once', async () => {
  await using bed = await PostingBed.open()
  const event = message('one')
  await bed.keep(event)
  bed.helpdesk.script = (call) => {
    if (call === 'post') throw new DownstreamError('transient', 'busy', { status: 429 })
  }
  await assert.rejects(bed.run([event]), DownstreamError)
  assert.deepEqual(await bed.counted(), {})
  bed.helpdesk.script = () => undefined
  bed.helpdesk.calls.length = 0
  assert.deepEqual(await bed.run([event]), ['posted'])
  assert.ok(!bed.helpdesk.calls.includes('findPosted'))
})

test('a conversation that is gone is left for another one', async () => {
  await using bed = await PostingBed.open()
  const event = message('one')
  await bed.keep(event)
  bed.helpdesk.conversations.length = 0
  await assert.rejects(bed.run([event]), { failure: 'gone' })
  const { id } = await bed.helpdesk.openConversation(desk.key, '5511988887777')
  bed.conversation = { id, newest: 0 }
  assert.deepEqual(await bed.run([event]), ['posted'])
})

test('a POST without an answer into a conversation that is gone is made again in another one', async () => {
  await using bed = await PostingBed.open()
  const event = message('one')
  await bed.keep(event)
  bed.helpdesk.script = (call) => {
    if (call !== 'post') return
    bed.helpdesk.conversations.length = 0
    throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
  }
  await assert.rejects(bed.run([event]), { failure: 'gone' })
  bed.helpdesk.script = () => undefined
  const { id } = await bed.helpdesk.openConversation(desk.key, '5511988887777')
  bed.conversation = { id, newest: 0 }
  assert.deepEqual(await bed.run([event]), ['posted'])
})

test('a message that the helpdesk refuses for good is replaced by a notice, and refused again it is an error', async () => {
  await using bed = await PostingBed.open()
  let refusals = 1
  bed.helpdesk.script = (call) => {
    if (call === 'post' && refusals-- > 0) throw new DownstreamError('permanent', 'refused', { status: 400 })
  }
  const [first, second] = [message('one'), message('two')]
  assert.deepEqual(await bed.import(first), ['posted'])
  assert.match(bed.helpdesk.contents[0] ?? '', /could not be shown here/)
  refusals = 2
  assert.deepEqual(await bed.import(second), ['error'])
  assert.deepEqual(await bed.counts(second), { posted: 1, skipped: 0, filtered: 0, error: 1 })
  assert.deepEqual(await bed.counted(), { ok: 1, ds_error: 1 })
})

test('where dates are not corrected, the time stands above the header; where they are, the commit queues the correction', async () => {
  await using bed = await PostingBed.open({ environment: { SERVICE_GROUP_EVENTS_ENABLED: 'true' } })
  bed.dates = { headOf: ({ at }) => Promise.resolve(`\`at ${at}\``), stepsOf: () => [] }
  const text = message('one', { chat: group, sender: ana, pushName: 'Ana', at: 1000 })
  const joined: NetworkEvent = {
    ...envelope({ chat: group, sender: ana, at: 2000 }),
    kind: 'group',
    changes: [{ change: 'join', people: [ana] }],
  }
  await bed.import(text, joined)
  assert.equal(bed.helpdesk.contents[0], '`at 1000`\n\n`+5511900001111 · ~Ana`\n\none')
  assert.match(bed.helpdesk.contents[1] ?? '', /^at 2000\n.*joined$/)
  const { id: messageId } = bed.helpdesk.messages[0] ?? {}
  assert.deepEqual(bed.dated[0], {
    ...{ destination: desk, conversationId: bed.conversation.id, messageId, sourceId: text.id, at: 1000 },
  })
})

test('the longest text with a time at its head still fits', async () => {
  await using bed = await PostingBed.open()
  bed.dates = { headOf: () => Promise.resolve('`15 Nov 2026, 14:05`'), stepsOf: () => [] }
  assert.deepEqual(await bed.import(message('x'.repeat(149_999))), ['posted'])
  assert.ok((bed.helpdesk.contents[0] ?? '').length <= 150_000)
})

test('the name in an old message does not replace the name that the person has now', async () => {
  await using bed = await PostingBed.open()
  const { people } = bed.bridge.set
  const bob = person('5511988887777')
  await people.upsert('a', bob, 'Bobby')
  await bed.import(message('one', { pushName: 'Robert' }))
  assert.equal((await people.lookUp('a', bob))?.pushName, 'Bobby')
  await bed.import(message('two', { chat: group, sender: ana, pushName: 'Ana' }))
  assert.equal((await people.lookUp('a', ana))?.pushName, 'Ana')
})

test('usage and the count of messages stay as they are', async () => {
  await using bed = await PostingBed.open()
  await bed.import(message('one'))
  const { values } = await bed.bridge.metrics.messages.get()
  assert.deepEqual(values, [])
})
