// What was read about a chat is used again for later messages. What has changed in storage meanwhile counts all the same.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from '../../harness/databases.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

const bot = { id: 9, name: 'Robot', type: 'agent_bot' }
const hours = 'We are open from nine to five today.'

/** Bob and Maria have written, and Bob has got an answer, so his chat is remembered. */
async function openRemembered(engine: EngineName, accounts = 1) {
  await using stack = new AsyncDisposableStack()
  const bed = stack.use(await OutboundBed.open({ engine, accounts }))
  const maria = bed.network.person({ phone: '5511888880002', lid: '200000000000002', name: 'Maria' })
  const { conversationId: ofMaria } = await bed.hears('hello', { from: maria })
  const { conversationId: ofBob } = await bed.hears('hello')
  await bed.write('first', {}, ofBob)
  await bed.received('first')
  const { query } = bed.database
  const chatOf = async (conversation: number) => {
    const chats = query.selectFrom('conversation_chats').select(['instance', 'chat', 'destination'])
    const [row] = await bed.database.read(chats.where('conversation_id', '=', conversation))
    return row ?? assert.fail('the conversation is not stored')
  }
  /** The chat has written last in the conversation. */
  const moveTo = async (owner: { instance: string; chat: string }) => {
    const row = { ...(await chatOf(ofBob)), ...owner, conversation_id: ofBob, wrote_at: 9e12, used_at: 9e12 }
    await bed.database.write(query.insertInto('conversation_chats').values(row))
  }
  const reads = countReads(bed)
  const owned = stack.move()
  const close = () => owned.disposeAsync()
  return { bed, maria, ofBob, ofMaria, chatOf, moveTo, reads, [Symbol.asyncDispose]: close }
}

/** How often the facts about a callback have been read since the last call. */
function countReads({ database }: OutboundBed): () => number {
  let count = 0
  const read = database.read.bind(database)
  database.read = (query, opens) => {
    if (query.compile().sql.includes('"settled_callbacks"')) count += 1
    return read(query, opens)
  }
  return () => {
    const counted = count
    count = 0
    return counted
  }
}

for (const engine of engines) {
  describe(`what is remembered of a chat, on ${engine}`, () => {
    test('a further message needs no read, in any conversation with the chat, and also after the customer has written', async () => {
      await using stage = await openRemembered(engine)
      const { bed, ofBob, reads } = stage
      await bed.write('second', {}, ofBob)
      assert.equal((await bed.post(bed.callback(900, 'third'))).status, 200)
      const { sourceId } = await bed.hears('when?')
      await bed.write('fourth', {}, ofBob)
      assert.equal(reads(), 0)
      assert.deepEqual(bed.texts(), ['first', 'second', 'third', 'fourth'])
      await bed.until('the question is marked read', () => bed.network.reads.some(({ id }) => id === sourceId))
    })

    test('a message goes to the chat that the conversation belongs to by now', async () => {
      await using stage = await openRemembered(engine)
      const { bed, maria, ofBob, ofMaria, chatOf, moveTo, reads } = stage
      await moveTo(await chatOf(ofMaria))
      await bed.write('for Maria', {}, ofBob)
      await bed.received('for Maria', maria)
      assert.equal(reads(), 1)
      await bed.write('for Maria, too', {}, ofBob)
      await bed.received('for Maria, too', maria)
      assert.equal(reads(), 0, 'now this is remembered')
      assert.deepEqual([bed.texts(), bed.texts(maria)], [['first'], ['for Maria', 'for Maria, too']])
      assert.equal(bed.network.frames, 3)
    })

    test('a message is sent by the instance that the customer wrote to last', async () => {
      await using stage = await openRemembered(engine, 2)
      const { bed, ofBob, chatOf, moveTo } = stage
      const { conversationId } = await bed.hears('hello', { instance: 'n1' })
      await moveTo(await chatOf(conversationId))
      await bed.write('from the other', {}, ofBob)
      assert.equal((await bed.received('from the other')).instance, 'n1')
      assert.equal(bed.network.frames, 2)
    })

    test('a message goes to the address from which the customer writes by now', async () => {
      await using stage = await openRemembered(engine)
      const { bed, ofBob } = stage
      const { to } = await bed.received('first')
      // Messages that are stored in the same millisecond have no order.
      await bed.pass(1)
      await bed.hears('my other address', {
        from: { ...bed.bob, ...(to.endsWith('@lid') ? { lid: null } : { phone: null }) },
      })
      await bed.write('second', {}, ofBob)
      assert.notEqual((await bed.received('second')).to, to)
    })

    test('a repeated text to another chat is no repeat', async () => {
      await using stage = await openRemembered(engine)
      const { bed, maria, ofBob, ofMaria, chatOf, moveTo } = stage
      bed.change('n0', { isSpamguardEnabled: true })
      await bed.write(hours, {}, ofBob)
      const repeat = await bed.write(hours, {}, ofBob)
      assert.deepEqual([(await rowOf(bed, repeat)).status, bed.texts()], ['refused', ['first', hours]])
      await moveTo(await chatOf(ofMaria))
      await bed.write(hours, {}, ofBob)
      await bed.received(hours, maria)
      assert.deepEqual(bed.texts(), ['first', hours])
    })

    test('a refused message is kept for the chat that the conversation belongs to by now', async () => {
      await using stage = await openRemembered(engine)
      const { bed, maria, ofBob, ofMaria, chatOf, moveTo } = stage
      await moveTo(await chatOf(ofMaria))
      bed.desk.sentSecondsAgo = 60
      const late = await bed.write('too late', {}, ofBob)
      bed.desk.sentSecondsAgo = 0
      assert.equal((await rowOf(bed, late)).status, 'refused')
      await bed.desk.retry(late)
      await bed.received('too late', maria)
      assert.deepEqual(bed.texts(), ['first'])
    })

    test('a message that finds the queue full is kept for the chat that the conversation belongs to by now', async () => {
      await using stage = await openRemembered(engine)
      const { bed, ofBob, ofMaria, chatOf, moveTo } = stage
      bed.disconnect()
      const waiting = Array.from({ length: 200 }, (_, n) => bed.post(conversationOf(bed, 1000 + n)))
      for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 202)
      const { chat, ...rest } = await chatOf(ofMaria)
      await moveTo({ ...rest, chat })
      const id = await bed.write('one too many', {}, ofBob)
      const row = await rowOf(bed, id)
      assert.deepEqual([row.status, row.chat], ['refused', chat])
    })

    test('a conversation that was imported holds back the messages of bots only as long as it is marked so', async () => {
      await using stage = await openRemembered(engine)
      const { bed, ofBob, reads } = stage
      const mark = (is_history: number | null) =>
        bed.database.write(bed.database.query.updateTable('conversation_chats').set({ is_history }))
      await mark(1)
      await bed.write('from the bot', { sender: bot }, ofBob)
      await bed.write('from the agent', {}, ofBob)
      assert.equal(reads(), 2)
      await mark(null)
      await bed.write('from the bot again', { sender: bot }, ofBob)
      await bed.received('from the bot again')
      assert.deepEqual(bed.texts(), ['first', 'from the agent', 'from the bot again'])
    })
  })
}

/** A callback of a conversation of its own: messages of one conversation are accepted one after the other. */
function conversationOf(bed: OutboundBed, id: number) {
  const { conversation } = bed.callback(id, '')
  return bed.callback(id, `waits ${id}`, { conversation: { ...(conversation as object), id } })
}
