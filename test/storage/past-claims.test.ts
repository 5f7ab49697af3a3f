// The claims of messages of the history: they are no news, and say nothing wrong about who wrote last.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { MessageMapStore } from '../../src/storage/stores/messages/message-map-store.ts'
import type { NewClaim } from '../../src/storage/stores/messages/message-map-store.ts'
import { SentMessageStore } from '../../src/storage/stores/messages/sent-message-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, holds } from '../harness/holds.ts'

const phone = '5511988887777@s.whatsapp.net'
const lid = '77@lid'
const destination = 'd1'

function claimOf(id: string, chat: string, changes: Partial<NewClaim> = {}): NewClaim {
  return {
    ...{ id, instance: 'a', destination, chat: 'p1', sender: 'p1', networkId: id, kind: 'message', direction: 'in' },
    networkKey: { chat, id, fromMe: false, participant: null },
    ...{ networkAt: 5, content: null, posting: { conversationId: 12, since: 9000, after: 0 } },
    ...changes,
  }
}

async function storesOf(database: Database) {
  await new LeaseStore(database).acquire('me', 60_000)
  return { map: new MessageMapStore(database), sent: new SentMessageStore(database, holds.holdOf) }
}

for (const engine of engines) {
  describe(`claims of the history on ${engine}`, () => {
    test('an imported message is never unread, also while it is being posted', async () => {
      await using opened = await newDatabase(engine)
      const { map, sent } = await storesOf(opened.database)
      await map.claim(holdOf('a'), claimOf('W1', phone, { isPast: true }), 'W1')
      const unread = () => sent.unread(destination, 12, 10_000, 10)
      assert.deepEqual(await unread(), { messages: [], isPosting: false })
      await map.beginPosting(holdOf('a'), 'W1', { conversationId: 12, since: 9500, after: 0 }, true)
      await map.complete(holdOf('a'), 'W1', { conversationId: 12, messageId: 41 }, [])
      assert.deepEqual(await unread(), { messages: [], isPosting: false })
    })

    test('a message that comes live after a failed import is unread', async () => {
      await using opened = await newDatabase(engine)
      const { map, sent } = await storesOf(opened.database)
      await map.claim(holdOf('a'), claimOf('W1', phone, { isPast: true }), 'W1')
      await map.beginPosting(holdOf('a'), 'W1', { conversationId: 12, since: 9500, after: 0 })
      await map.complete(holdOf('a'), 'W1', { conversationId: 12, messageId: 41 }, [])
      assert.equal((await sent.unread(destination, 12, 10_000, 10)).messages.length, 1)
    })

    test('the address that wrote last stays the one of the newest message', async () => {
      await using opened = await newDatabase(engine)
      const { map, sent } = await storesOf(opened.database)
      const live = { networkAt: 8000, posting: { conversationId: 12, since: 8100, after: 0 } }
      await map.claim(holdOf('a'), claimOf('live', lid, live), 'live')
      await map.claim(holdOf('a'), claimOf('old', phone, { isPast: true, networkAt: 3000 }), 'old')
      assert.equal(await sent.lastAddress('a', 'p1'), lid)
      await map.claim(holdOf('a'), claimOf('missed', phone, { isPast: true, networkAt: 8500 }), 'missed')
      assert.equal(await sent.lastAddress('a', 'p1'), phone)
    })

    test('a time in the future counts as the time of the import', async () => {
      await using opened = await newDatabase(engine)
      const { map } = await storesOf(opened.database)
      await map.claim(holdOf('a'), claimOf('W1', phone, { isPast: true, networkAt: 99_000 }), 'W1')
      const [row] = await map.findByNetworkId('a', ['W1'])
      assert.deepEqual([row?.claimedAt, row?.readAt], [9000, 9000])
    })

    test('of two accounts that share a conversation, the one that was written to last is still known', async () => {
      await using opened = await newDatabase(engine)
      const { map } = await storesOf(opened.database)
      await map.claim(holdOf('a'), claimOf('live', phone, { instance: 'b', networkAt: 8000 }), 'live')
      await map.claim(holdOf('a'), claimOf('old', phone, { isPast: true, networkAt: 3000 }), 'old')
      const query = opened.database.query.selectFrom('conversation_chats').select(['instance', 'wrote_at'])
      assert.deepEqual(await opened.database.read(query.orderBy('wrote_at', 'desc')), [
        { instance: 'b', wrote_at: 8000 },
        { instance: 'a', wrote_at: 3000 },
      ])
    })
  })
}
