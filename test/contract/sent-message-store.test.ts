import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/lease-store.ts'
import { SentMessageStore } from '../../src/storage/sent-message-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'

const destination = 'https://desk|1|1'
const spot = { instance: 'shop', chat: 'p1', destination, conversationId: 7 }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const sent = new SentMessageStore(database, () => epoch)
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
    return { database, sent, heard, held, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`what a callback must know on ${engine}`, () => {
    test('of a chat and a conversation nobody has heard of: nothing', async () => {
      await using stage = await setUp()
      const nothing = { owner: undefined, lastAddress: undefined, isKnown: false, hasUnread: false }
      assert.deepEqual(await stage.sent.lookAround(spot), nothing)
      const nowhere = { instance: 'shop', chat: null, destination: null, conversationId: null }
      assert.deepEqual(await stage.sent.lookAround(nowhere), nothing)
    })

    test('the address last heard from, and whether something is unread', async () => {
      await using stage = await setUp()
      const { sent, heard } = stage
      await heard('5511888880001@s.whatsapp.net', 1)
      await heard('200000000000001@lid', 2)
      await heard('5511777770001@s.whatsapp.net', 3, { chat: 'p2', message_id: null })
      const around = await sent.lookAround(spot)
      assert.deepEqual([around.lastAddress, around.isKnown, around.hasUnread], ['200000000000001@lid', true, true])
      assert.equal(await sent.lastAddress('shop', 'p1'), around.lastAddress)
      assert.equal((await sent.lookAround({ ...spot, conversationId: 8 })).hasUnread, false)
      assert.equal((await sent.lookAround({ ...spot, chat: 'p2' })).lastAddress, '5511777770001@s.whatsapp.net')
      const unread = await sent.unread(destination, 7, 10, 100)
      assert.deepEqual(
        unread.map(({ id }) => id),
        ['m1', 'm2'],
      )
      await sent.markRead(
        unread.map(({ id }) => id),
        5,
      )
      assert.deepEqual(await sent.lookAround(spot), { ...around, hasUnread: false })
    })

    test('what was sent makes a chat known, but is not heard from and not unread', async () => {
      await using stage = await setUp()
      const { sent, database } = stage
      const networkKey = { chat: '1@s.whatsapp.net', id: 'W', fromMe: true, participant: null }
      const message = { id: 'x', instance: 'shop', destination, chat: 'p1', networkKey, kind: 'message' }
      const step = () =>
        sent.insertStep({ ...message, conversationId: 7, messageId: 70, content: { text: 'hello' }, at: 1 })
      await database.write(step(), step())
      const around = await sent.lookAround(spot)
      assert.deepEqual([around.lastAddress, around.isKnown, around.hasUnread], [undefined, true, false])
    })

    test('a conversation belongs to the instance that used it last', async () => {
      await using stage = await setUp()
      const { sent, held } = stage
      await held('shop', 1)
      await held('office', 2)
      assert.equal((await sent.lookAround(spot)).owner, 'office')
    })
  })
}
