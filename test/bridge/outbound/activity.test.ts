// What the customer sees of an agent at work: messages marked read, and the account online while agents act.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, OutboundBed } from './harness/outbound-bed.ts'

const reads = ({ network }: OutboundBed) => network.reads.map(({ id }) => id)
const presences = ({ network }: OutboundBed) => network.presences.map(({ available }) => available)

test('messages in a row, and a question in between: all arrive in order, and the question is marked read', async () => {
  await using bed = await OutboundBed.open()
  const { conversationId } = await bed.hears('hello')
  for (const text of ['one', 'two', 'three', 'four']) await bed.write(text, {}, conversationId)
  const question = await bed.hears('when?')
  await bed.write('five', {}, conversationId)
  await bed.until('the question is marked read', () => reads(bed).includes(question.sourceId ?? ''))
  assert.deepEqual(bed.texts(), ['one', 'two', 'three', 'four', 'five'])
})

test('an answer marks more messages read than are read from storage at a time', async () => {
  await using bed = await OutboundBed.open()
  const heard: string[] = []
  for (let count = 0; count < 101; count++) heard.push((await bed.hears(`question ${count}`)).sourceId ?? '')
  const { conversationId } = await bed.hears('the last question')
  await bed.write('answer', {}, conversationId)
  await bed.until('all questions are marked read', () => heard.every((id) => reads(bed).includes(id)))
})

test('marking as read can be switched off', async () => {
  await using bed = await OutboundBed.open({ environment: { SERVICE_MARK_AS_READ_OUTGOING: 'false' } })
  const { conversationId } = await bed.hears('one')
  await bed.write('answer', {}, conversationId)
  assert.deepEqual(bed.texts(), ['answer'])
  await bed.pass(1000)
  assert.deepEqual(reads(bed), [])
})

test('the account is online while agents act, and not for longer than 2 minutes after', async () => {
  await using bed = await OutboundBed.open()
  await bed.post(bed.callback(1, 'hello', { sender: ana }))
  await bed.settle()
  assert.deepEqual(presences(bed), [true])
  await bed.pass(60_000)
  // The customer answers: the helpdesk tells again when an agent was last there.
  const agent_last_seen_at = Math.floor(bed.clock.now() / 1000) - 60
  await bed.post({ event: 'conversation_updated', id: bed.conversation, inbox_id: 1, agent_last_seen_at })
  await bed.pass(59_000)
  assert.deepEqual(presences(bed), [true])
  await bed.pass(2000)
  assert.deepEqual(presences(bed), [true, false])
})

test('neither customers nor greetings make the account go online', async () => {
  await using bed = await OutboundBed.open()
  const agent_last_seen_at = Math.floor(bed.clock.now() / 1000) - 3600
  const updated = { event: 'conversation_updated', id: bed.conversation, inbox_id: 1, agent_last_seen_at }
  assert.equal((await bed.post(updated)).status, 200)
  const greeting = bed.callback(1, 'we are closed', { message_type: 'template', sender: null })
  assert.equal((await bed.post(greeting)).status, 200)
  await bed.settle()
  assert.deepEqual([presences(bed), bed.network.frames], [[], 1], 'not before the agent wrote')
  await bed.post(bed.callback(2, 'hello', { sender: ana }))
  await bed.until('an agent makes it go online', () => presences(bed).length > 0)
  assert.deepEqual([presences(bed), bed.network.frames], [[true], 2])
})

test('a shared inbox: the instance that holds the conversation answers in it', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const asked = await bed.hears('to the second', { instance: 'n1' })
  await bed.write('from the second', {}, asked.conversationId)
  assert.equal((await bed.received('from the second')).instance, 'n1')
  assert.deepEqual([(await bed.outbox('n1')).sent, (await bed.outbox('n0')).sent], [1, 0])
})
