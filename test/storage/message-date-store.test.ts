// Which posted messages still need their true date, and when they are due.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ImportMarks } from '../../src/storage/stores/history/import-marks.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { openStores } from './harness/all-stores.ts'
import { holdOf } from '../harness/holds.ts'

const destination = { key: 'https://desk|1|7', baseUrl: 'https://desk/', apiToken: 'token', accountId: 1, inboxId: 7 }
const conversation = { destination: destination.key, conversationId: 12, instance: 'shop', chat: 'p1' }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const { dates } = await openStores(database)
    const queue = async (messageId: number, changes: { baseUrl?: string; now?: number } = {}) => {
      const { baseUrl = destination.baseUrl, now = messageId } = changes
      const message = { conversationId: 12, messageId, sourceId: `W${messageId}`, at: 5, now }
      await database.write(dates.queueStatement({ ...message, destination: { ...destination, baseUrl } }))
    }
    const due = async (limit = 10) => (await dates.due('https://desk', limit)).map(({ messageId }) => messageId)
    const row = (messageId: number) => ({ destination: destination.key, messageId })
    const owned = stack.move()
    return {
      ...{ dates, marks: new ImportMarks(database), queue, due, row },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  }

  describe(`dates on ${engine}`, () => {
    test('a message is due until it is done, those that wait longest first', async () => {
      await using stage = await setUp()
      const { dates, queue, due, row } = stage
      for (const [messageId, now] of [
        [1, 30],
        [2, 10],
        [3, 20],
      ] as const)
        await queue(messageId, { now })
      await queue(2, { now: 99 })
      assert.deepEqual(
        [await due(), await due(2)],
        [
          [2, 3, 1],
          [2, 3],
        ],
      )
      const [first] = await dates.due('https://desk', 1)
      assert.deepEqual(first, {
        ...{ destination: destination.key, messageId: 2, accountId: 1, inboxId: 7, conversationId: 12 },
        ...{ sourceId: 'W2', at: 5, isImporting: false },
      })
      await dates.settle({ done: [row(2), row(1)], held: [] })
      assert.deepEqual(await due(), [3])
    })

    test('messages of another installation are not due', async () => {
      await using stage = await setUp()
      const { queue, due } = stage
      await queue(1, { baseUrl: 'https://other' })
      await queue(2, { baseUrl: 'https://desk/two' })
      await queue(3, { baseUrl: 'https://desk' })
      assert.deepEqual(await due(), [3])
    })

    test('a held message is due again when the import into its conversation has ended', async () => {
      await using stage = await setUp()
      const { dates, marks, queue, due, row } = stage
      await marks.begin(holdOf('shop'), conversation, { isHistory: true, now: 1 })
      await queue(1)
      assert.equal((await dates.due('https://desk', 1))[0]?.isImporting, true)
      await dates.settle({ done: [], held: [row(1)] })
      await queue(2)
      assert.deepEqual(await due(), [2])
      await marks.end(holdOf('shop'), conversation, 9)
      assert.deepEqual(await due(), [1, 2])
      assert.equal((await dates.due('https://desk', 1))[0]?.isImporting, false)
    })

    test('old messages are given up', async () => {
      await using stage = await setUp()
      const { dates, queue, due } = stage
      for (const now of [10, 20, 30]) await queue(now)
      await dates.prune(20)
      assert.deepEqual(await due(), [20, 30])
    })
  })
}
