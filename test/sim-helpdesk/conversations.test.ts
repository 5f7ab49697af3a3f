// Conversations over the account API: the lock, reopening, lists, and changes by agents.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'

let helpdesk: SimHelpdesk
let client: DeskClient

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
})
beforeEach(() => helpdesk.reset())
after(() => helpdesk[Symbol.asyncDispose]())

const start = (contactId: number, extra: object = {}) =>
  client.post('/conversations', { inbox_id: 1, contact_id: contactId, source_id: 'one', ...extra })
const incoming = (to: number) =>
  client.post(`/conversations/${to}/messages`, { content: 'x', message_type: 'incoming' })
const statusOf = (id: number) => helpdesk.see.conversations((one) => one.id === id)[0]?.status

test('without the lock every call opens a conversation, with the lock the last one is returned unchanged', async () => {
  const first = await openChat(client, 'one')
  const second = await start(1)
  assert.notEqual(second.body.id, first)
  await client.patch('/inboxes/1', { lock_to_single_conversation: true })
  await client.post(`/conversations/${second.body.id}/toggle_status`, { status: 'resolved' })
  const third = await start(1, { status: 'open', custom_attributes: { ignored: true }, message: { content: 'hello' } })
  assert.deepEqual([third.body.id, third.body['status']], [second.body.id, 'resolved'])
  assert.deepEqual(third.body['custom_attributes'], {})
  assert.ok(helpdesk.messages(second.body.id).some((one) => one.content === 'hello'))
})

test('without a source_id each call creates an address, so the lock has no effect', async () => {
  await client.patch('/inboxes/1', { lock_to_single_conversation: true })
  await openChat(client, 'one')
  const ids = new Set<number>()
  for (let at = 0; at < 3; at++) ids.add((await client.post('/conversations', { inbox_id: 1, contact_id: 1 })).body.id)
  assert.equal(ids.size, 3)
  assert.equal(helpdesk.see.contacts()[0]?.addresses.length, 4)
})

test('a source_id of another contact gives 422 here', async () => {
  await openChat(client, 'one')
  await client.post('/contacts', { name: 'Other', identifier: 'o@lid' })
  const { status, body } = await start(2)
  assert.deepEqual([status, body as unknown], [422, { error: 'source_id should be unique' }])
})

test('an incoming message opens a resolved or snoozed conversation and leaves a pending one', async () => {
  for (const [status, then] of [
    ['resolved', 'open'],
    ['snoozed', 'open'],
    ['pending', 'pending'],
  ]) {
    const id = await openChat(client, `s-${status ?? ''}`)
    await client.post(`/conversations/${id}/toggle_status`, { status })
    await client.post(`/conversations/${id}/messages`, { content: 'an answer never reopens' })
    assert.equal(statusOf(id), status)
    await incoming(id)
    assert.equal(statusOf(id), then)
  }
  const notes = helpdesk.messages(1).filter((one) => one.messageType === 'activity')
  assert.equal(notes.at(-1)?.content, 'System reopened the conversation due to a new incoming message.')
})

test('a blocked contact opens no conversation', async () => {
  const id = await openChat(client, 'one')
  await client.post(`/conversations/${id}/mute`)
  await incoming(id)
  assert.equal(statusOf(id), 'resolved')
  assert.equal((await start(1)).body['status'], 'resolved')
})

test('conversations are found by the source_id of the chat in every status', async () => {
  const id = await openChat(client, 'one')
  await openChat(client, 'two')
  await client.post(`/conversations/${id}/toggle_status`, {})
  const list = async (query: string) => {
    const { body } = await client.get(`/conversations?${query}`)
    return (body['data'] as { payload: Json[] }).payload.map((one) => one.id)
  }
  assert.deepEqual(await list('inbox_id=1&status=all&source_id=one'), [id])
  assert.deepEqual(await list('source_id=one'), [])
  const ofContact = await client.get('/contacts/1/conversations')
  assert.deepEqual(
    (ofContact.body['payload'] as Json[]).map((one) => one.id),
    [id],
  )
})

test('the conversations of a chat come in pages of twenty-five', async () => {
  const ids = [await openChat(client, 'one')]
  for (let n = 0; n < 25; n++)
    ids.push((await client.post('/conversations', { source_id: 'one', status: 'pending' })).body.id)
  const page = async (number: number) => {
    const { body } = await client.get(`/conversations?inbox_id=1&status=all&source_id=one&page=${number}`)
    return (body['data'] as { payload: Json[] }).payload.map((one) => one.id)
  }
  const pages = [await page(1), await page(2), await page(3)]
  assert.deepEqual(
    pages.map((one) => one.length),
    [25, 1, 0],
  )
  assert.deepEqual(
    pages.flat().toSorted((a, b) => a - b),
    ids,
  )
})

test('a conversation shows its newest message, its unread count up to ten, and its times', async () => {
  const id = await openChat(client, 'one')
  for (let at = 0; at < 12; at++) await incoming(id)
  const { body } = await client.get(`/conversations/${id}`)
  assert.equal(body['unread_count'], 10)
  assert.equal((body['messages'] as Json[])[0]?.['message_type'], 0)
  assert.deepEqual([body['agent_last_seen_at'], body['first_reply_created_at']], [0, 0])
  await client.post(`/conversations/${id}/update_last_seen`)
  assert.equal((await client.get(`/conversations/${id}`)).body['unread_count'], 0)
})

test('an agent who opens a conversation gets it assigned, an administrator does not', async () => {
  const id = await openChat(client, 'one')
  await client.post(`/conversations/${id}/toggle_status`, {})
  await client.post(`/conversations/${id}/toggle_status`, {})
  assert.equal(helpdesk.see.conversations()[0]?.assigneeId, null)
  const ana = helpdesk.world.addAgent({ name: 'Ana' })
  const asAna = new DeskClient(helpdesk, ana.token)
  await asAna.post(`/conversations/${id}/toggle_status`, { status: 'resolved' })
  await asAna.post(`/conversations/${id}/toggle_status`, { status: 'open' })
  assert.equal(helpdesk.see.conversations()[0]?.assigneeId, ana.id)
})

test('attributes that are too long or in milliseconds are refused, and an unknown status gives 500', async () => {
  await openChat(client, 'one')
  const ms = await start(1, { custom_attributes: { at: 1_763_000_000_000 } })
  assert.deepEqual([ms.status, ms.body['attributes']], [422, ['custom_attributes']])
  const long = await start(1, { additional_attributes: { text: 'x'.repeat(1501) } })
  assert.deepEqual([long.status, long.body['attributes']], [422, ['additional_attributes']])
  assert.equal((await start(1, { status: 'closed' })).status, 500)
})

test('a deleted conversation disappears a little later, with its messages', async () => {
  const id = await openChat(client, 'one')
  await incoming(id)
  assert.equal((await client.delete(`/conversations/${id}`)).status, 200)
  await helpdesk.settled()
  const gone = await client.get(`/conversations/${id}`)
  assert.deepEqual([gone.status, gone.body as unknown], [404, { error: 'Resource could not be found' }])
  assert.equal(helpdesk.messages().length, 0)
})

test('the greeting and the out-of-office message are templates without a sender', async () => {
  await client.patch('/inboxes/1', {
    greeting_enabled: true,
    greeting_message: 'Welcome {{contact.name}}',
    working_hours_enabled: true,
    out_of_office_message: 'We are asleep',
  })
  const sunday = nextSunday(helpdesk.clock.now())
  await helpdesk.advance(sunday - helpdesk.clock.now())
  const id = await openChat(client, 'one')
  await incoming(id)
  await incoming(id)
  const templates = helpdesk.messages(id).filter((one) => one.messageType === 'template')
  assert.deepEqual(
    templates.map((one) => [one.content, one.sender]),
    [['We are asleep', null]],
  )
})

test('a greeting answers the first incoming message only', async () => {
  await client.patch('/inboxes/1', { greeting_enabled: true, greeting_message: 'Welcome {{contact.name}}' })
  const id = await openChat(client, 'one')
  await incoming(id)
  await incoming(id)
  const templates = helpdesk.messages(id).filter((one) => one.messageType === 'template')
  assert.deepEqual(
    templates.map((one) => one.content),
    ['Welcome Maria'],
  )
})

test('a greeting comes in a pending conversation, and not after a private note', async () => {
  await client.patch('/inboxes/1', { greeting_enabled: true, greeting_message: 'Welcome' })
  const templates = (id: number) => helpdesk.messages(id).filter((one) => one.messageType === 'template').length
  const pending = await openChat(client, 'one', { status: 'pending' })
  await incoming(pending)
  assert.deepEqual([templates(pending), statusOf(pending)], [1, 'pending'])
  const noted = await openChat(client, 'two')
  await client.post(`/conversations/${noted}/messages`, { content: 'a note', private: true })
  await incoming(noted)
  assert.equal(templates(noted), 0)
})

test('an answer of the last five minutes holds back the out-of-office message', async () => {
  await client.patch('/inboxes/1', { working_hours_enabled: true, out_of_office_message: 'We are asleep' })
  await helpdesk.advance(nextSunday(helpdesk.clock.now()) - helpdesk.clock.now())
  const id = await openChat(client, 'one')
  const templates = () => helpdesk.messages(id).filter((one) => one.messageType === 'template').length
  await client.post(`/conversations/${id}/messages`, { content: 'an answer' })
  await incoming(id)
  assert.equal(templates(), 0)
  await helpdesk.advance(301_000)
  await incoming(id)
  assert.equal(templates(), 1)
})

test('a bot gets new and reopened conversations as pending ones', async () => {
  const bot = await client.post('/agent_bots', { name: 'Robot' })
  await client.post('/inboxes/1/set_agent_bot', { agent_bot: bot.body.id })
  const id = await openChat(client, 'one')
  assert.equal(statusOf(id), 'pending')
  await client.post(`/conversations/${id}/toggle_status`, { status: 'resolved' })
  await incoming(id)
  assert.equal(statusOf(id), 'pending')
  await client.post('/inboxes/1/set_agent_bot', {})
  assert.equal((await start(1)).body['status'], 'open')
  helpdesk.assertNothingRefused()
})

test('an agent who is online gets the conversations that wait', async () => {
  const first = await openChat(client, 'one')
  await helpdesk.settled()
  const assignee = () => helpdesk.see.conversations((one) => one.id === first)[0]?.assigneeId
  assert.equal(assignee(), null)
  helpdesk.world.setOnline(helpdesk.agent.id, true)
  await openChat(client, 'two')
  await helpdesk.settled()
  assert.equal(assignee(), helpdesk.agent.id)
})

function nextSunday(now: number): number {
  const noon = now - (now % 86_400_000) + 43_200_000
  return noon + (7 - new Date(noon).getUTCDay()) * 86_400_000
}
