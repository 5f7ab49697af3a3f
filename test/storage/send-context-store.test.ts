import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { SentMessageStore } from '../../src/storage/stores/messages/sent-message-store.ts'
import { callbackColumns } from '../../src/storage/stores/messages/settled-callbacks.ts'
import { SendContextStore } from '../../src/storage/stores/messages/send-context-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { holdOf } from '../harness/holds.ts'

const destination = 'https://desk|1|1'
type Heard = {
  instance?: string
  chat?: string
  message_id?: number | null
  kind?: string
  conversation_id?: number
}

const key = { instance: 'shop', chatId: 'p1', destination, conversationId: 7, callback: null }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const sent = new SentMessageStore(database, (instance) => holdOf(instance, epoch))
    const clock = new ManualClock()
    const contexts = new SendContextStore(database, clock)
    let rows = 0
    const heard = (from: string, at: number, more: Heard = {}) =>
      database.write(
        database.query.insertInto('message_map').values({
          id: `m${++rows}`,
          instance: 'shop',
          destination,
          chat: 'p1',
          sender: 'p1',
          network_id: `W${rows}`,
          kind: 'message',
          direction: 'in',
          network_key: JSON.stringify({ chat: from, id: `W${rows}`, fromMe: false, participant: null }),
          network_at: at,
          conversation_id: 7,
          message_id: 70,
          claimed_at: at,
          ...more,
        }),
      )
    const shown = (
      instance: string,
      wrote_at: number,
      more: { used_at?: number; chat?: string; conversation_id?: number } = {},
    ) =>
      database.write(
        database.query
          .insertInto('conversation_chats')
          .values({ instance, destination, chat: 'p1', conversation_id: 7, wrote_at, used_at: 0, ...more }),
      )
    const person = (instance: string, phone: string) =>
      database.write(database.query.insertInto('people').values({ instance, id: 'p1', phone, lid: null }))
    const owned = stack.move()
    return { database, sent, contexts, clock, heard, shown, person, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`facts about a callback on ${engine}`, () => {
    test('of an unknown chat and conversation nothing is known', async () => {
      await using stage = await setUp()
      const asked = { lastAddress: undefined, isKnown: false }
      const importState = { isHistory: false, isImporting: false, endedAt: null }
      const nothing = { stored: [], asked, hasUnread: false, isSettled: false, importState }
      assert.deepEqual(await stage.contexts.read(key), nothing)
      const nowhere = { instance: 'shop', chatId: null, destination: null, conversationId: null, callback: null }
      assert.deepEqual(await stage.contexts.read(nowhere), nothing)
    })

    test('the last address of a chat is known, and whether a message is unread', async () => {
      await using stage = await setUp()
      const { sent, contexts, heard } = stage
      await heard('5511888880001@s.whatsapp.net', 1)
      await heard('200000000000001@lid', 2)
      await heard('5511777770001@s.whatsapp.net', 3, { chat: 'p2', message_id: null })
      const facts = await contexts.read(key)
      assert.deepEqual([facts.asked, facts.hasUnread], [{ lastAddress: '200000000000001@lid', isKnown: true }, true])
      assert.equal(await sent.lastAddress('shop', 'p1'), facts.asked?.lastAddress)
      assert.equal((await contexts.read({ ...key, conversationId: 8 })).hasUnread, false)
      const other = await contexts.read({ ...key, chatId: 'p2' })
      assert.equal(other.asked?.lastAddress, '5511777770001@s.whatsapp.net')
      const { messages: unread } = await sent.unread(destination, 7, 10, 100)
      assert.deepEqual(
        unread.map(({ id }) => id),
        ['m1', 'm2'],
      )
      await sent.markRead(
        'shop',
        unread.map(({ id }) => id),
        5,
      )
      assert.deepEqual(await contexts.read(key), { ...facts, hasUnread: false })
    })

    test('a sent message makes a chat known, but is neither its last address nor unread', async () => {
      await using stage = await setUp()
      const { sent, contexts, database } = stage
      const networkKey = { chat: '1@s.whatsapp.net', id: 'W', fromMe: true, participant: null }
      const message = { id: 'x', instance: 'shop', destination, chatId: 'p1', networkKey, kind: 'message' }
      const step = () =>
        sent.insertStep({
          ...message,
          conversationId: 7,
          messageId: 70,
          content: { text: 'hello' },
          at: 1,
          networkAt: 1,
        })
      await database.write(step(), step())
      const facts = await contexts.read(key)
      assert.deepEqual([facts.asked, facts.hasUnread], [{ lastAddress: undefined, isKnown: true }, false])
    })

    test('of several chats in a conversation the one that wrote last is first, then the one that opened it last', async () => {
      await using stage = await setUp()
      const { contexts, shown, person, heard } = stage
      await shown('shop', 1)
      await shown('office', 2)
      await shown('home', 0, { used_at: 8 })
      await shown('lab', 0, { used_at: 9 })
      await shown('home', 2, { used_at: 5, chat: '1@g.us' })
      await person('office', '5511888880001')
      await heard('200000000000001@lid', 3)
      const { stored, asked } = await contexts.read({ ...key, instance: 'nobody' })
      assert.equal(asked, undefined)
      const owners = ['home', 'office', 'shop', 'lab', 'home']
      assert.deepEqual(
        stored.map(({ instance }) => instance),
        owners,
      )
      const addresses = stored.map(({ lastAddress }) => lastAddress)
      assert.deepEqual(addresses, [undefined, undefined, '200000000000001@lid', undefined, undefined])
      const [group, office] = (await contexts.storedConversation(destination, 7)).chats
      assert.deepEqual(group, { instance: 'home', chatId: '1@g.us', person: null })
      const known = { phone: '5511888880001', lid: null }
      assert.deepEqual(office, { instance: 'office', chatId: 'p1', person: known })
      assert.deepEqual((await contexts.storedConversation(destination, 8)).chats, [])
    })

    test('a settled callback is found', async () => {
      await using stage = await setUp()
      const { contexts, database } = stage
      const callback = { destination, kind: 'message_created', eventId: 70 }
      assert.equal((await contexts.read({ ...key, callback })).isSettled, false)
      await database.write(
        database.query
          .insertInto('settled_callbacks')
          .values({ ...callbackColumns(callback), outbox_id: 'a', settled_at: 1 }),
      )
      assert.equal((await contexts.read({ ...key, callback })).isSettled, true)
      const nowhere = { ...key, destination: null, conversationId: null }
      assert.equal((await contexts.read({ ...nowhere, callback })).isSettled, true)
      const another = { ...key, callback: { ...callback, eventId: 71 } }
      assert.equal((await contexts.read(another)).isSettled, false)
    })

    test('the facts about a chat are recalled only while they still hold', async () => {
      await using stage = await setUp()
      const { contexts, heard, shown, person, clock, database } = stage
      const isUnchanged = async () => {
        const { unchanged } = contexts.recall(key) ?? {}
        return unchanged && (await database.write(unchanged))[0] === 1
      }
      const assertStale = async (what: string) => {
        assert.equal(await isUnchanged(), false, what)
        await contexts.read(key)
        assert.equal(await isUnchanged(), true, what)
      }
      await contexts.read(key)
      assert.equal(contexts.recall(key), undefined, 'a chat that becomes known with the message')
      await heard('200000000000001@lid', 1)
      const { asked, importState } = await contexts.read(key)
      const recalled = contexts.recall(key)
      assert.deepEqual(recalled?.asked, { ...asked, person: null })
      assert.deepEqual([recalled.stored, recalled.importState], [[], importState])
      assert.equal(contexts.recall({ ...key, chatId: 'p2' }), undefined)
      assert.equal(contexts.recall({ ...key, instance: 'office' }), undefined)
      assert.equal(await isUnchanged(), true)
      await heard('200000000000001@lid', 2)
      assert.equal(await isUnchanged(), true, 'somebody wrote again from the same address')
      await heard('5511888880001@s.whatsapp.net', 3)
      await assertStale('somebody wrote from another address')
      await person('shop', '5511888880001')
      await assertStale('the person has a record')
      await database.write(database.query.updateTable('people').set({ lid: '200000000000001' }))
      await assertStale('the person has another address')
      await database.write(database.query.updateTable('people').set({ phone: '5511888880002' }))
      await assertStale('the person has another number')
      await database.write(database.query.deleteFrom('people'))
      await assertStale('the record of the person is gone')
      await shown('shop', 3)
      assert.equal(await isUnchanged(), true, 'the conversation is stored with the same chat')
      await shown('office', 2)
      assert.equal(await isUnchanged(), true, 'an earlier writer changes nothing')
      await database.write(database.query.deleteFrom('message_map'))
      assert.equal(await isUnchanged(), false, 'no message of the chat is known any more')
      await clock.advance(3_600_000)
      assert.equal(contexts.recall(key), undefined)
    })

    test('a chat that is not the one that the callback names is recalled once the conversation was read', async () => {
      await using stage = await setUp()
      const { contexts, heard, shown, person, database } = stage
      await heard('200000000000001@lid', 1)
      await contexts.read(key)
      await heard('200000000000002@lid', 2, { chat: 'p2' })
      await shown('shop', 4, { chat: 'p2' })
      await person('shop', '5511888880001')
      const isUnchanged = async () => {
        const { unchanged } = contexts.recall(key) ?? {}
        return unchanged && (await database.write(unchanged))[0] === 1
      }
      assert.equal(await isUnchanged(), false, 'the conversation is with another chat')
      await contexts.read(key)
      const person2 = { instance: 'shop', chatId: 'p2', person: null }
      const facts = { lastAddress: '200000000000002@lid', isKnown: true }
      assert.deepEqual(contexts.recall(key)?.stored, [{ ...person2, ...facts }])
      assert.equal(await isUnchanged(), true)
      await shown('office', 5, { chat: 'p2' })
      assert.equal(await isUnchanged(), false, 'the customer wrote to another instance')
      await contexts.read(key)
      assert.equal(contexts.recall(key), undefined, 'that instance knows no message of the chat')
      await database.write(database.query.deleteFrom('conversation_chats'))
      await contexts.read(key)
      assert.deepEqual(contexts.recall(key)?.stored, [], 'the conversation is not stored any more')
      assert.equal(await isUnchanged(), true)
    })

    test('a message of another conversation with a known chat needs no read', async () => {
      await using stage = await setUp()
      const { contexts, heard, database } = stage
      await heard('200000000000001@lid', 1)
      await contexts.read(key)
      const { asked, unchanged, unread } = contexts.recall({ ...key, conversationId: 8 }) ?? assert.fail()
      assert.equal(asked?.lastAddress, '200000000000001@lid')
      assert.deepEqual(await database.write(unchanged, unread), [1, 0])
      await heard('200000000000001@lid', 2, { conversation_id: 8 })
      assert.deepEqual(await database.write(unchanged, unread), [1, 1], 'the conversation has an unread message')
    })

    test('an instance that leaves takes its facts along', async () => {
      await using stage = await setUp()
      const { contexts, heard, shown } = stage
      await heard('200000000000001@lid', 1)
      await heard('200000000000001@lid', 1, { instance: 'shop 2' })
      await shown('shop 2', 1, { conversation_id: 9 })
      const other = { ...key, instance: 'shop 2' }
      const shared = { ...key, conversationId: 9 }
      for (const each of [key, other, shared]) await contexts.read(each)
      for (const each of [key, other, shared]) assert.ok(contexts.recall(each))
      assert.equal(contexts.recall(shared)?.stored[0]?.instance, 'shop 2')
      contexts.leave('shop 2')
      assert.equal(contexts.recall(other), undefined)
      assert.deepEqual(contexts.recall(shared)?.stored, [], 'only what the callback names is left')
      assert.ok(contexts.recall(key))
      contexts.leave('shop')
      assert.equal(contexts.recall(key), undefined)
    })
  })
}
