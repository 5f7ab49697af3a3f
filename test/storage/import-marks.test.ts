import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { ImportMarks } from '../../src/storage/stores/history/import-marks.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { SendContextStore } from '../../src/storage/stores/messages/send-context-store.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import { PeopleStore } from '../../src/storage/stores/people/people-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const destination = 'https://desk|1|1'
const at = (conversationId: number, chat = 'p1', instance = 'shop') => ({ destination, conversationId, instance, chat })

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const clock = new ManualClock()
    const contexts = new SendContextStore(database, clock)
    const marks = new ImportMarks(database)
    const importState = async (conversationId: number) =>
      (await contexts.storedConversation(destination, conversationId)).importState
    const owned = stack.move()
    return { database, epoch, contexts, marks, importState, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`marks of imports on ${engine}`, () => {
    test('what is imported for one account counts for every account that shares the conversation', async () => {
      await using stage = await setUp()
      const { marks, epoch, importState } = stage
      const none = { isHistory: false, isImporting: false, endedAt: null }
      assert.deepEqual(await importState(7), none)
      await marks.begin(holdOf('shop', epoch), at(7), { isHistory: false, now: 1 })
      await marks.begin(holdOf('shop', epoch), at(7, 'p9', 'office'), { isHistory: true, now: 1 })
      assert.deepEqual(await importState(7), { isHistory: true, isImporting: true, endedAt: null })
      assert.deepEqual(await importState(8), none)
      await marks.end(holdOf('shop', epoch), at(7), 50)
      assert.deepEqual(await importState(7), { isHistory: true, isImporting: false, endedAt: 50 })
      await marks.end(holdOf('shop', epoch), at(7), 60)
      assert.equal((await importState(7)).endedAt, 50, 'an end that is repeated changes nothing')
    })

    test('a context that is remembered does not hold once an import has begun, nor after its end', async () => {
      await using stage = await setUp()
      const { marks, epoch, contexts, database } = stage
      const key = { instance: 'shop', chatId: 'p1', destination, conversationId: 7, callback: null }
      const networkKey = JSON.stringify({ chat: '1@lid', id: 'W', fromMe: false, participant: null })
      const mapped = { id: 'm', instance: 'shop', destination, chat: 'p1', sender: 'p1', network_id: 'W' }
      const posted = { network_at: 1, conversation_id: 7, message_id: 70, claimed_at: 1, read_at: 2 }
      await database.write(
        database.query
          .insertInto('message_map')
          .values({ ...mapped, ...posted, kind: 'message', direction: 'in', network_key: networkKey }),
      )
      const isUnchanged = async () => {
        const { unchanged } = contexts.recall(key) ?? {}
        return unchanged && (await database.write(unchanged))[0] === 1
      }
      await contexts.read(key)
      assert.equal(await isUnchanged(), true)
      await marks.begin(holdOf('shop', epoch), at(7), { isHistory: false, now: 1 })
      assert.equal(await isUnchanged(), false)
      await contexts.read(key)
      assert.equal(contexts.recall(key), undefined, 'nothing is remembered while an import is under way')
      await marks.end(holdOf('shop', epoch), at(7), 50)
      await contexts.read(key)
      assert.deepEqual([contexts.recall(key)?.importState.endedAt, await isUnchanged()], [50, true])
      await marks.begin(holdOf('shop', epoch), at(7), { isHistory: false, now: 60 })
      assert.equal(await isUnchanged(), false)
      await marks.end(holdOf('shop', epoch), at(7), 70)
      assert.equal(await isUnchanged(), false)
    })

    test('when two records of a person become one, the marks of both stay', async () => {
      await using stage = await setUp()
      const { marks, epoch, database, importState } = stage
      const people = new PeopleStore(database)
      const record = { pushName: null, savedName: null, formerPhones: [] }
      await people.insert(holdOf('shop', epoch), { id: 'p1', phone: '55', lid: null, ...record })
      await people.insert(holdOf('shop', epoch), { id: 'p2', phone: null, lid: '99', ...record })
      await marks.begin(holdOf('shop', epoch), at(7, 'p2'), { isHistory: true, now: 1 })
      await marks.begin(holdOf('shop', epoch), at(8, 'p2'), { isHistory: true, now: 1 })
      await marks.end(holdOf('shop', epoch), at(8), 50)
      await database.write(
        database.query
          .insertInto('conversation_chats')
          .values({ destination, conversation_id: 8, instance: 'shop', chat: 'p1', wrote_at: 5, used_at: 5 }),
      )
      await people.merge(
        holdOf('shop', epoch),
        { id: 'p1', phone: '55', lid: '99', ...record },
        { id: 'p2', phone: null },
      )
      assert.deepEqual(await importState(7), { isHistory: true, isImporting: true, endedAt: null })
      assert.deepEqual(await importState(8), { isHistory: true, isImporting: false, endedAt: 50 })
      const rows = await database.read(database.query.selectFrom('conversation_chats').select('chat'))
      assert.deepEqual(rows, [{ chat: 'p1' }, { chat: 'p1' }])
    })

    test('an import ends when no job goes on with it and no conversation of it is still to be resolved', async () => {
      await using stage = await setUp()
      const { marks, epoch, database, importState } = stage
      const { query } = database
      const job = { type: 'history_all', instance: 'shop', params: '{}', created_at: 0 } as const
      const chat = { jids: '[]', state: 'running', destination } as const
      await database.write(
        query.insertInto('jobs').values([
          { ...job, id: 'running', status: 'running' },
          { ...job, id: 'cancelled', status: 'cancelled' },
        ]),
        query.insertInto('import_chats').values([
          { ...chat, job_id: 'running', chat: 'p1' },
          { ...chat, job_id: 'running', chat: 'former', conversation_id: 2 },
          { ...chat, job_id: 'running', chat: 'p3', state: 'done' },
          { ...chat, job_id: 'cancelled', chat: 'p4' },
          { ...chat, job_id: 'cancelled', chat: 'p7', conversation_id: 7 },
          { ...chat, job_id: 'cancelled', chat: 'p8', conversation_id: 8, state: 'done' },
        ]),
      )
      for (const [id, name] of [
        [1, 'p1'],
        [2, 'p2'],
        [3, 'p3'],
        [4, 'p4'],
        [5, 'p5'],
        [7, 'p7'],
        [8, 'p8'],
      ] as const) {
        await marks.begin(holdOf('shop', epoch), at(id, name), { isHistory: false, now: 1 })
      }
      await marks.begin(holdOf('shop', epoch), at(6, 'p1', 'office'), { isHistory: false, now: 1 })
      await marks.endAbandoned(nodeHold(epoch), 90)
      const ids = [1, 2, 3, 4, 5, 6, 7, 8]
      const states = await Promise.all(ids.map(importState))
      assert.deepEqual(
        ids.filter((_, index) => states[index]?.isImporting),
        // The conversation of a cancelled job is resolved later. The survey that follows is refused only under import.
        [1, 2, 7],
      )
      assert.equal(states[4]?.endedAt, 90)
    })

    test('an end that is stored for the future is corrected', async () => {
      await using stage = await setUp()
      const { marks, epoch, database, importState } = stage
      await marks.begin(holdOf('shop', epoch), at(7), { isHistory: false, now: 1 })
      await marks.end(holdOf('shop', epoch), at(7), 10_000_000)
      await correctFutureTimes(database, nodeHold(epoch), 1000)
      assert.equal((await importState(7)).endedAt, 1000)
    })

    test('a conversation that holds only history is never the one for new messages, of any account', async () => {
      await using stage = await setUp()
      const { marks, epoch, database } = stage
      const contacts = new ContactStore(database)
      const place = (instance: string) => ({ instance, destination, chat: instance === 'shop' ? 'p1' : 'p9' })
      const known = (conversationId: number) => ({ conversationId, contactId: 4, sourceId: '55' })
      await contacts.saveConversation(holdOf('shop', epoch), place('shop'), known(1), 0)
      await contacts.saveConversation(holdOf('shop', epoch), place('office'), known(2), 0)
      await marks.begin(holdOf('shop', epoch), at(1), { isHistory: false, now: 1 })
      await marks.begin(holdOf('shop', epoch), at(11), { isHistory: true, now: 1 })
      await marks.begin(holdOf('shop', epoch), at(12, 'p9', 'office'), { isHistory: true, now: 1 })
      await marks.begin(holdOf('shop', epoch), at(13, 'p5'), { isHistory: true, now: 1 })
      const excluded = async (instance: string) => (await contacts.excludedConversations(place(instance), '55')).sort()
      assert.deepEqual(await excluded('shop'), [11, 12, 2])
      assert.deepEqual(await excluded('office'), [1, 11, 12])
      await contacts.dropConversation(holdOf('shop', epoch), place('shop'))
      assert.deepEqual(await excluded('shop'), [11, 12, 2], 'also when the conversation of the chat is forgotten')
    })
  })
}
