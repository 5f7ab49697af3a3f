// What the phones report of a message is stored, never goes back, and stays due until the helpdesk was told.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'

const destination = 'https://desk|1|7'
const none: string[] = []

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const stores = await openStores(database)
    const { ticks, sent } = stores
    /** A message that the network acknowledged. */
    const map = (id: string, changes: { messageId?: number; conversationId?: number; destination?: string } = {}) =>
      database.write(
        sent.insertStep({
          ...{ id, instance: 'shop', destination, chatId: 'p1', kind: 'message', conversationId: 5, messageId: 6 },
          ...{ at: 1000, networkAt: 1000, content: {} },
          networkKey: { chat: '5511888880001@s.whatsapp.net', id, fromMe: true, participant: null },
          ...changes,
        }),
      )
    const due = async (now: number, except: string[] = []) =>
      (await ticks.due(now, 10, except, 'all')).map(({ messageId }) => messageId)
    const reported = async (messageId = 6) =>
      (await ticks.message(destination, messageId)).parts.map((part) => [part.id, part.reported, part.ticked])
    const owned = stack.move()
    return { stores, ticks, map, due, reported, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`ticks on ${engine}`, () => {
    test('a message goes from delivered to read, and never back', async () => {
      await using stage = await setUp()
      const { ticks, map, due, reported } = stage
      await map('w1')
      assert.deepEqual([await reported(), await due(9000)], [[['w1', null, null]], []])
      await ticks.report('shop', { delivered: ['w1'], read: none }, 2000)
      assert.deepEqual([await reported(), await due(1999), await due(2000)], [[['w1', 'delivered', null]], [], [6]])
      await ticks.report('shop', { delivered: none, read: ['w1'] }, 3000)
      await ticks.report('shop', { delivered: ['w1'], read: none }, 4000)
      const { parts } = await ticks.message(destination, 6)
      assert.deepEqual(parts, [{ id: 'w1', reported: 'read', reportedAt: 3000, ticked: null, tickAt: 3000 }])
    })

    test('a tick is due until the helpdesk was told, and again when the phones report more meanwhile', async () => {
      await using stage = await setUp()
      const { ticks, map, due, reported } = stage
      await map('w1')
      await ticks.report('shop', { delivered: ['w1'], read: none }, 2000)
      const { parts } = await ticks.message(destination, 6)
      await ticks.report('shop', { delivered: none, read: ['w1'] }, 2000)
      await ticks.ticked({ instance: 'shop', destination, messageId: 6 }, parts, 'delivered', 9000)
      assert.deepEqual(await due(2000), [6])
      const { parts: later } = await ticks.message(destination, 6)
      await ticks.ticked({ instance: 'shop', destination, messageId: 6 }, later, 'read', 9000)
      assert.deepEqual([await due(9000), await reported()], [[], [['w1', 'read', 'read']]])
    })

    test('a tick that was set plans a look at the message instead of an earlier or later one', async () => {
      await using stage = await setUp()
      const { ticks, map, stores } = stage
      const { outbox, transitions, shown } = stores
      for (const id of ['first', 'second']) {
        const messageId = id === 'first' ? 6 : 7
        await outbox.enqueue(sampleOutboxRow(id, { destination, messageId }), null)
        await transitions.claim('shop', id, 1000, [], 'j')
        await transitions.markSent({ id, instance: 'shop' }, [], 1000, [])
        await map(`w-${id}`, { messageId })
      }
      await shown.planLook('shop', 'second', 3000)
      const parts = [{ id: 'w', reported: 'read' as const, reportedAt: 1000, ticked: null, tickAt: 1000 }]
      for (const messageId of [6, 7])
        await ticks.ticked({ instance: 'shop', destination, messageId }, parts, 'read', 9000)
      const lookAt = async (id: string) => (await outbox.find(id))?.lookAt
      assert.deepEqual([await lookAt('first'), await lookAt('second')], [9000, 9000])
    })

    test('a message is whole only when its row in the outbox is sent', async () => {
      await using stage = await setUp()
      const { ticks, map, stores } = stage
      const { outbox, transitions } = stores
      const isSent = async () => (await ticks.message(destination, 6)).isSent
      await map('w1')
      assert.equal(await isSent(), true)
      await outbox.enqueue(sampleOutboxRow('row', { destination, messageId: 6 }), null)
      assert.equal(await isSent(), false)
      await transitions.claim('shop', 'row', 1000, [], 'j')
      await transitions.markSent({ id: 'row', instance: 'shop' }, [], 1000, [])
      assert.equal(await isSent(), true)
    })

    test('a destination or a conversation is put off, and the others stay due', async () => {
      await using stage = await setUp()
      const { ticks, map, due } = stage
      await map('w1', { messageId: 1, conversationId: 5 })
      await map('w2', { messageId: 2, conversationId: 6 })
      await map('w3', { messageId: 3, destination: 'other' })
      await ticks.report('shop', { delivered: none, read: ['w1', 'w2', 'w3'] }, 2000)
      assert.deepEqual(await due(2000, ['other']), [1, 2])
      await ticks.postpone('shop', { destination, conversationId: 5 }, 2000, 62_000)
      assert.deepEqual((await due(2000)).toSorted(), [2, 3])
      await ticks.postpone('shop', { destination }, 2000, 32_000)
      assert.deepEqual([await due(2000), await due(32_000)], [[3], [3, 2]])
    })

    test('many receipts are stored in one commit', async () => {
      await using stage = await setUp()
      const { ticks, map, stores } = stage
      const ids = Array.from({ length: 1200 }, (_, n) => `w${n}`)
      await Promise.all(ids.map((id, n) => map(id, { messageId: n + 1 })))
      await ticks.report('shop', { delivered: none, read: ids }, 2000)
      assert.equal((await ticks.due(2000, 5000, [], 'all')).length, 1200)
      const found = await ticks.find('shop', ids)
      assert.equal(found.filter(({ reported }) => reported === 'read').length, 1200)
      assert.equal(await stores.shown.reportedOf(destination, 700), 'read')
    })
  })
}
