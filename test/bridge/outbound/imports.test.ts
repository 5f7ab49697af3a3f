// No answer to a message of the history is sent: neither while a conversation is under import, nor a minute later, nor from a
// conversation that holds only history, unless a person writes it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImportMarks } from '../../../src/storage/stores/history/import-marks.ts'
import type { Answer } from './harness/agent-desk.ts'
import { ana, OutboundBed } from './harness/outbound-bed.ts'
import { reported } from './harness/views.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'

const bot = { id: 9, name: 'Robot', type: 'agent_bot' }
const imported = /history is being imported, press Retry in a minute/
const historyOnly = /shows imported history: only messages that a person writes/

/** Bob has written, and messages of the history go into a conversation with him. */
async function setUp({ isHistory }: { isHistory: boolean }) {
  const bed = await OutboundBed.open()
  const { conversationId: live, destination } = await bed.hears('hello')
  const { sourceId = '' } = bed.helpdesk.conversations.find(({ id }) => id === live) ?? {}
  const conversation = isHistory ? (await bed.helpdesk.openConversation(destination, sourceId)).id : live
  const marks = new ImportMarks(bed.database)
  const [chat] = await bed.database.read(
    bed.database.query
      .selectFrom('conversation_chats')
      .select(['instance', 'chat'])
      .where('conversation_id', '=', live),
  )
  assert.ok(chat)
  const place = { destination, conversationId: conversation, ...chat }
  const now = () => bed.clock.now()
  return {
    bed,
    live,
    conversation,
    begin: () => marks.begin(holdOf('a'), place, { isHistory, now: now() }),
    end: () => marks.end(holdOf('a'), place, now()),
    endAbandoned: () => marks.endAbandoned(nodeHold(), now()),
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  }
}

function assertKept(answer: Answer, reason: RegExp): void {
  const code = reason === imported ? 'history_import' : 'history_conversation'
  const { reason: found, error, error_code: errorCode } = answer.body as Record<string, string>
  assert.deepEqual([answer.status, found, errorCode], [422, code, 'SERVICE_MESSAGE_UNSENDABLE'])
  assert.match(error ?? '', reason)
}

/** The agent presses Retry, and the helpdesk shows this failure again. */
async function retriedInVain(bed: OutboundBed, id: number, reason: RegExp): Promise<void> {
  await bed.desk.retry(id)
  const { contentAttributes } = await bed.shown(id, ({ status }) => status === 'failed')
  assert.match(String(contentAttributes['external_error']), reason)
}

/** What the bridge answered to the callback of a message. */
async function answerTo(bed: OutboundBed, text: string, extra: object, conversation: number) {
  const { id, answered } = bed.desk.write(text, extra, conversation)
  return { id, answer: await answered }
}

for (const isHistory of [false, true]) {
  const which = isHistory ? 'a History conversation' : 'the conversation of the chat'
  test(`while history goes into ${which}, an agent's message is refused, and Retry sends it a minute later`, async () => {
    await using stage = await setUp({ isHistory })
    const { bed, conversation, begin, end } = stage
    await begin()
    const { id, answer } = await answerTo(bed, 'wait for me', {}, conversation)
    assertKept(answer, imported)
    assert.match(await reported(bed, id), imported)
    const repeated = await bed.post({
      ...bed.callback(id, 'wait for me'),
      conversation: { id: conversation, inbox_id: 1 },
    })
    assertKept(repeated, imported)
    await retriedInVain(bed, id, imported)
    await end()
    await bed.pass(55_000)
    await retriedInVain(bed, id, imported)
    assert.deepEqual(bed.texts(), [])
    await bed.pass(6000)
    await bed.desk.retry(id)
    await bed.received('wait for me')
    await bed.write('and this at once', {}, conversation)
    assert.deepEqual(bed.texts(), ['wait for me', 'and this at once'])
  })
}

for (const [who, extra] of Object.entries({
  'an agent bot': { sender: bot },
  'an automation rule': { sender: null, content_attributes: { automation_rule_id: 3 } },
  'a template': { sender: null },
})) {
  test(`from a History conversation nothing of ${who} is sent, also hours later and by Retry`, async () => {
    await using stage = await setUp({ isHistory: true })
    const { bed, conversation, live, begin, end } = stage
    await begin()
    const during = await answerTo(bed, 'during', extra, conversation)
    assertKept(during.answer, historyOnly)
    await end()
    await bed.pass(2 * 3_600_000)
    const later = await answerTo(bed, 'later', extra, conversation)
    assertKept(later.answer, historyOnly)
    assert.match(await reported(bed, later.id), historyOnly)
    await retriedInVain(bed, later.id, historyOnly)
    await bed.restart()
    assertKept((await answerTo(bed, 'after a restart', extra, conversation)).answer, historyOnly)
    assert.deepEqual(bed.texts(), [])
    assert.equal((await answerTo(bed, 'in the chat itself', extra, live)).answer.status, 200)
    assert.deepEqual(bed.texts(), ['in the chat itself'])
  })
}

test('a context that is remembered from before the import is not trusted', async () => {
  await using stage = await setUp({ isHistory: false })
  const { bed, conversation, begin, end } = stage
  await bed.write('first', {}, conversation)
  await bed.until('the customer was read', () => bed.network.reads.length > 0)
  // This message is accepted with a read, the next one would be accepted without.
  await bed.write('second', {}, conversation)
  await begin()
  assertKept((await answerTo(bed, 'third', {}, conversation)).answer, imported)
  await end()
  assertKept((await answerTo(bed, 'fourth', {}, conversation)).answer, imported)
  assertKept((await answerTo(bed, 'fifth', {}, conversation)).answer, imported)
  assert.deepEqual(bed.texts(), ['first', 'second'])
})

test('a message that was accepted before the import is sent', async () => {
  await using stage = await setUp({ isHistory: false })
  const { bed, conversation, begin } = stage
  bed.disconnect()
  const { answer, id } = await answerTo(bed, 'on its way', {}, conversation)
  assert.equal(answer.status, 202)
  await begin()
  bed.connect()
  await bed.received('on its way')
  const again = await bed.post({ ...bed.callback(id, 'on its way'), conversation: { id: conversation, inbox_id: 1 } })
  assert.deepEqual([again.status, (again.body as { reason: string }).reason], [200, 'duplicate'])
})

test('a change of a message whose callback was lost is no way around the import', async () => {
  await using stage = await setUp({ isHistory: true })
  const { bed, conversation, begin, end } = stage
  await bed.write('the first callback of the inbox')
  await begin()
  const lost = async (text: string, extra: object) => {
    await bed.stop()
    const { id, answered } = bed.desk.write(text, extra, conversation)
    await answered
    await bed.start()
    await bed.pass(11_000)
    return id
  }
  const ofAgent = await lost('of an agent', {})
  const ofBot = await lost('of a bot', { sender: bot })
  await retriedInVain(bed, ofAgent, imported)
  await retriedInVain(bed, ofBot, historyOnly)
  await end()
  await bed.pass(61_000)
  await retriedInVain(bed, ofBot, historyOnly)
  await bed.desk.retry(ofAgent)
  await bed.received('of an agent')
  assert.deepEqual(bed.texts(), ['the first callback of the inbox', 'of an agent'])
})

test('the helpdesk itself says what a conversation is for, when our database does not know it', async () => {
  await using bed = await OutboundBed.open()
  const at = Math.floor(bed.clock.now() / 1000)
  let id = 500
  const from = (sender: object | null, mark: string, writtenAt: number) => {
    const text = `message ${++id}`
    const { conversation } = bed.callback(id, text) as { conversation: object }
    const marked = { ...conversation, additional_attributes: { imported_history: mark }, created_at: at }
    const created_at = new Date(writtenAt * 1000).toISOString()
    return bed.post(bed.callback(id, text, { conversation: marked, sender, created_at }))
  }
  assertKept(await from(bot, 'history', at + 86_400), historyOnly)
  assertKept(await from(null, 'chat', at + 1), imported)
  assert.deepEqual(bed.texts(), [])
  for (const [sender, mark, writtenAt] of [
    [ana, 'history', at + 1],
    [bot, 'chat', at + 600],
    [bot, 'another mark', at + 1],
  ] as const) {
    assert.equal((await from(sender, mark, writtenAt)).status, 200)
  }
})

test('a time in the future counts as now, until it is corrected', async () => {
  await using stage = await setUp({ isHistory: false })
  const { bed, conversation, begin, end } = stage
  await begin()
  await end()
  const future = { import_ended_at: bed.clock.now() + 30 * 86_400_000 }
  await bed.database.write(bed.database.query.updateTable('conversation_chats').set(future))
  await bed.pass(61_000)
  assertKept((await answerTo(bed, 'too early', {}, conversation)).answer, imported)
})

test('typing and looking in a conversation under import is not shown to the customer', async () => {
  await using stage = await setUp({ isHistory: true })
  const { bed, conversation, begin, end } = stage
  await begin()
  const typing = () =>
    bed.post({
      event: 'conversation_typing_on',
      user: ana,
      is_private: false,
      conversation: { id: conversation, inbox_id: 1 },
    })
  const seen = () =>
    bed.post({
      event: 'conversation_updated',
      id: conversation,
      inbox_id: 1,
      agent_last_seen_at: Math.floor(bed.clock.now() / 1000),
    })
  await typing()
  await seen()
  await end()
  await typing()
  await seen()
  await bed.settle()
  assert.deepEqual([bed.network.typing, bed.network.presences, bed.network.reads], [[], [], []])
  await bed.pass(61_000)
  await seen()
  await bed.settle()
  assert.deepEqual(bed.network.presences, [], 'an agent who reads the history is not shown online')
  await typing()
  await bed.until('typing is shown', () => bed.network.typing.length > 0)
})

test('an import that no job goes on with ends by itself', async () => {
  await using stage = await setUp({ isHistory: false })
  const { bed, conversation, begin, endAbandoned } = stage
  await begin()
  const [mark] = await bed.database.read(
    bed.database.query.selectFrom('conversation_chats').select(['instance', 'chat']).where('is_importing', '=', 1),
  )
  assert.ok(mark)
  const { query } = bed.database
  const job = { id: 'j1', type: 'history_all', status: 'running', params: '{}', created_at: 0 } as const
  await bed.database.write(
    query.insertInto('jobs').values({ ...job, instance: mark.instance }),
    query.insertInto('import_chats').values({ job_id: 'j1', chat: mark.chat, jids: '[]', state: 'running' }),
  )
  await endAbandoned()
  await bed.pass(61_000)
  assertKept((await answerTo(bed, 'the job runs', {}, conversation)).answer, imported)
  await bed.database.write(query.updateTable('jobs').set({ status: 'cancelled' }))
  await endAbandoned()
  assertKept((await answerTo(bed, 'a moment later', {}, conversation)).answer, imported)
  await bed.pass(61_000)
  assert.equal((await answerTo(bed, 'free again', {}, conversation)).answer.status, 200)
})
