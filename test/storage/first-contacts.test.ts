// Counting the people to whom an instance has written first.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SentMessageStore } from '../../src/storage/stores/messages/sent-message-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holds } from '../harness/holds.ts'

type Mapped = { instance?: string; chat: string; direction?: 'in' | 'echo' | 'out'; at: number }

for (const engine of engines) {
  describe(`first contacts on ${engine}`, () => {
    const setUp = async (rows: readonly Mapped[]) => {
      await using stack = new AsyncDisposableStack()
      const { database } = stack.use(await newDatabase(engine))
      const sent = new SentMessageStore(database, holds.holdOf)
      const content = { content: null, posting_since: null, posting_after: null, read_at: null }
      const columns = rows.map(({ instance = 'shop', chat, direction = 'out', at }, n) => ({
        ...{ id: String(n), instance, destination: 'd', chat, sender: 'me', network_id: String(n), kind: 'message' },
        ...{
          direction,
          network_key: '{}',
          network_at: at,
          conversation_id: 1,
          message_id: n,
          claimed_at: at,
          ...content,
        },
      }))
      await database.write(database.query.insertInto('message_map').values(columns))
      const owned = stack.move()
      return { sent, [Symbol.asyncDispose]: () => owned.disposeAsync() }
    }

    test('a person counts once, when the first message of the chat is ours and new', async () => {
      await using stage = await setUp([
        { chat: 'ours', at: 2000 },
        { chat: 'ours', at: 2001 },
        { chat: 'ours and answered', at: 2000 },
        { chat: 'ours and answered', direction: 'in', at: 2001 },
        { chat: 'old', at: 900 },
        { chat: 'old', at: 2000 },
        { chat: 'theirs', direction: 'in', at: 1999 },
        { chat: 'theirs', at: 2000 },
        { chat: 'by phone', direction: 'echo', at: 1500 },
        { chat: 'by phone', at: 2000 },
        { chat: '120363000000000001@g.us', at: 2000 },
        { instance: 'other', chat: 'ours', at: 100 },
        { instance: 'other', chat: 'only theirs', at: 2000 },
      ])
      assert.equal(await stage.sent.countFirstContacts('shop', 1000), 2)
      assert.equal(await stage.sent.countFirstContacts('shop', 2000), 0)
      assert.equal(await stage.sent.countFirstContacts('shop', 0), 3)
      assert.equal(await stage.sent.countFirstContacts('nobody', 0), 0)
    })
  })
}
