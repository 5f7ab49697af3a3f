import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { SentMessageStore } from '../../src/storage/stores/messages/sent-message-store.ts'
import { SurroundingsStore } from '../../src/storage/stores/messages/send-context-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { ManualClock } from '../harness/manual-clock.ts'

const destination = 'https://desk|1|1'
const spot = { instance: 'shop', chat: 'p1', destination, conversationId: 7, callback: null }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const sent = new SentMessageStore(database, () => epoch)
    const clock = new ManualClock()
    const surroundings = new SurroundingsStore(database, clock)
    let rows = 0
    const heard = (from: string, at: number, more: { chat?: string; message_id?: number | null; kind?: string } = {}) =>
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
    const held = (instance: string, used_at: number) =>
      database.write(
        database.query
          .insertInto('conversations')
          .values({ instance, destination, chat: 'p1', conversation_id: 7, contact_id: 1, source_id: 's', used_at }),
      )
    const owned = stack.move()
    return { database, sent, surroundings, clock, heard, held, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`what a callback must know on ${engine}`, () => {
    test('of an unknown chat and an unknown conversation: nothing', async () => {
      await using stage = await setUp()
      const nothing = { owner: undefined, lastAddress: undefined, isKnown: false, hasUnread: false, isSettled: false }
      assert.deepEqual(await stage.surroundings.lookAround(spot), nothing)
      const nowhere = { instance: 'shop', chat: null, destination: null, conversationId: null, callback: null }
      assert.deepEqual(await stage.surroundings.lookAround(nowhere), nothing)
    })

    test('the address that wrote last, and whether a message is unread', async () => {
      await using stage = await setUp()
      const { sent, surroundings, heard } = stage
      await heard('5511888880001@s.whatsapp.net', 1)
      await heard('200000000000001@lid', 2)
      await heard('5511777770001@s.whatsapp.net', 3, { chat: 'p2', message_id: null })
      const around = await surroundings.lookAround(spot)
      assert.deepEqual([around.lastAddress, around.isKnown, around.hasUnread], ['200000000000001@lid', true, true])
      assert.equal(await sent.lastAddress('shop', 'p1'), around.lastAddress)
      assert.equal((await surroundings.lookAround({ ...spot, conversationId: 8 })).hasUnread, false)
      assert.equal((await surroundings.lookAround({ ...spot, chat: 'p2' })).lastAddress, '5511777770001@s.whatsapp.net')
      const unread = await sent.unread(destination, 7, 10, 100)
      assert.deepEqual(
        unread.map(({ id }) => id),
        ['m1', 'm2'],
      )
      await sent.markRead(
        unread.map(({ id }) => id),
        5,
      )
      assert.deepEqual(await surroundings.lookAround(spot), { ...around, hasUnread: false })
    })

    test('a sent message makes a chat known, but is neither heard from nor unread', async () => {
      await using stage = await setUp()
      const { sent, surroundings, database } = stage
      const networkKey = { chat: '1@s.whatsapp.net', id: 'W', fromMe: true, participant: null }
      const message = { id: 'x', instance: 'shop', destination, chat: 'p1', networkKey, kind: 'message' }
      const step = () =>
        sent.insertStep({ ...message, conversationId: 7, messageId: 70, content: { text: 'hello' }, at: 1 })
      await database.write(step(), step())
      const around = await surroundings.lookAround(spot)
      assert.deepEqual([around.lastAddress, around.isKnown, around.hasUnread], [undefined, true, false])
    })

    test('a conversation belongs to the instance that used it last', async () => {
      await using stage = await setUp()
      const { surroundings, held } = stage
      await held('shop', 1)
      await held('office', 2)
      assert.equal((await surroundings.lookAround(spot)).owner, 'office')
    })

    test('whether the callback is settled', async () => {
      await using stage = await setUp()
      const { surroundings, database } = stage
      const callback = { instance: 'shop', destination, kind: 'message_created', event_id: 70 }
      assert.equal((await surroundings.lookAround({ ...spot, callback })).isSettled, false)
      await database.write(
        database.query.insertInto('callbacks').values({ ...callback, outbox_id: 'a', settled_at: 1 }),
      )
      assert.equal((await surroundings.lookAround({ ...spot, callback })).isSettled, true)
      const nowhere = { ...spot, destination: null, conversationId: null }
      assert.equal((await surroundings.lookAround({ ...nowhere, callback })).isSettled, true)
      const another = { ...spot, callback: { ...callback, event_id: 71 } }
      assert.equal((await surroundings.lookAround(another)).isSettled, false)
    })

    test('the answer is remembered for ten seconds, and only while it still holds', async () => {
      await using stage = await setUp()
      const { surroundings, sent, heard, held, clock, database } = stage
      const isStill = async () => {
        const { still } = surroundings.recall(spot) ?? {}
        return still && (await database.write(still))[0] === 1
      }
      const look = async () => {
        const unread = await sent.unread(destination, 7, 10, 100)
        await sent.markRead(
          unread.map(({ id }) => id),
          5,
        )
        return surroundings.lookAround(spot)
      }
      await surroundings.lookAround(spot)
      assert.equal(surroundings.recall(spot), undefined, 'a chat that becomes known with the message')
      await heard('200000000000001@lid', 1)
      await surroundings.lookAround(spot)
      assert.equal(surroundings.recall(spot), undefined, 'what is marked read with the message')
      const around = await look()
      const { still, ...recalled } = surroundings.recall(spot) ?? {}
      assert.deepEqual(recalled, around)
      assert.equal(surroundings.recall({ ...spot, chat: 'p2' }), undefined)
      assert.ok(still && (await isStill()))
      await heard('5511888880001@s.whatsapp.net', 2, { message_id: null })
      assert.equal(await isStill(), false, 'somebody wrote from another address')
      await look()
      await held('office', 3)
      assert.equal(await isStill(), false, 'the conversation has another owner')
      await look()
      assert.equal(await isStill(), true)
      await heard('5511888880001@s.whatsapp.net', 1)
      assert.equal(await isStill(), false, 'something is unread')
      await look()
      await clock.advance(10_000)
      assert.equal(surroundings.recall(spot), undefined)
    })
  })
}
