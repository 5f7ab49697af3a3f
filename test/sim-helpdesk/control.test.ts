// The control interface: faults, resets and agents for a test in another process.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fastify from 'fastify'
import { helpdeskControl } from '../../sim/helpdesk/control/helpdesk-control.ts'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat, readAnswer } from './harness/desk-client.ts'
import type { Answer } from './harness/desk-client.ts'

let helpdesk: SimHelpdesk
let client: DeskClient
let control: string
const app = fastify()

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
  await app.register(helpdeskControl(helpdesk), { prefix: '/helpdesk' })
  control = await app.listen({ host: '127.0.0.1', port: 0 })
})
beforeEach(() => helpdesk.reset())
after(async () => {
  await app.close()
  await helpdesk[Symbol.asyncDispose]()
})

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const headers = body ? { 'Content-Type': 'application/json' } : undefined
  return readAnswer(
    await fetch(`${control}/helpdesk${path}`, {
      method,
      ...(headers ? { headers } : {}),
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  )
}

test('a fault can be added, listed and cleared', async () => {
  const { status, body } = await ask('POST', '/faults', { kind: 'status', status: 500, path: 'contacts', times: 3 })
  assert.equal(status, 201)
  assert.equal((await client.get('/contacts')).status, 500)
  assert.deepEqual((await ask('GET', '/faults')).body, [
    { id: body.id, kind: 'status', status: 500, afterCommit: false, times: 3, path: 'contacts', left: 2 },
  ])
  assert.equal((await ask('DELETE', `/faults/${body.id}`)).status, 200)
  assert.equal((await client.get('/contacts')).status, 200)
})

test('every kind of fault is accepted, and an unknown one is refused', async () => {
  const faults = [
    { kind: 'timeout', commit: 'late', commit_ms: [0, 15_000], probability: 0.5 },
    { kind: 'slow', ms: 100 },
    { kind: 'cut', after_commit: true },
    { kind: 'wrong_token' },
    { kind: 'not_in_account' },
    { kind: 'account_suspended', method: 'POST' },
    { kind: 'inbox_deleted', inbox_id: 1 },
    { kind: 'refused' },
  ]
  for (const fault of faults) assert.equal((await ask('POST', '/faults', fault)).status, 201, fault.kind)
  await ask('DELETE', '/faults')
  assert.equal((await client.get('/inboxes/1')).status, 200)
  assert.equal((await ask('POST', '/faults', { kind: 'meteor' })).status, 400)
  assert.equal((await ask('POST', '/faults', { kind: 'slow', ms: 1, colour: 'red' })).status, 400)
})

test('a restart and a deleted conversation happen at once', async () => {
  const chat = await openChat(client, '5511')
  assert.equal((await ask('POST', '/faults', { kind: 'restart' })).status, 201)
  assert.equal((await client.get(`/conversations/${chat}`)).status, 200)
  await ask('POST', '/faults', { kind: 'conversation_deleted', conversation_id: chat })
  assert.equal((await client.get(`/conversations/${chat}`)).status, 404)
})

test('a new agent gets a valid token', async () => {
  const agent = await ask('POST', '/agents', { name: 'Ana' })
  assert.equal(agent.status, 201)
  const asAna = new DeskClient(helpdesk, String(agent.body['token']))
  assert.equal((await asAna.get('/conversations')).status, 200)
})

test('settings change until the next reset', async () => {
  const chat = await openChat(client, '5511')
  const say = () => client.post(`/conversations/${chat}/messages`, { content: 'x' })
  assert.equal((await ask('POST', '/settings', { messages_per_minute: 1, quirks: 'lifelike' })).status, 200)
  assert.equal((await say()).status, 200)
  assert.equal((await say()).status, 422)
  await ask('POST', '/settings', { messages_per_minute: 1000 })
  assert.equal((await say()).status, 200)
  assert.equal((await ask('POST', '/settings', { colour: 'red' })).status, 400)
})

test('the workers go away for a while, and an automation rule answers', async () => {
  const chat = await openChat(client, '5511')
  assert.deepEqual((await ask('POST', '/automations', { content: 'soon' })).body, { id: 1 })
  assert.deepEqual((await ask('POST', '/workers-away', { ms: 60_000 })).body, { away: true })
  await client.post(`/conversations/${chat}/messages`, { content: 'hi', message_type: 'incoming' })
  assert.equal(helpdesk.messages(chat).length, 1)
  await helpdesk.advance(61_000)
  await helpdesk.settled()
  assert.deepEqual(
    helpdesk.messages(chat).map(({ content }) => content),
    ['hi', 'soon'],
  )
  assert.equal((await ask('POST', '/workers-away', { ms: 0 })).status, 400)
})

test('a fault answers with the given body', async () => {
  const body = { error: 'source_id should be unique' }
  await ask('POST', '/faults', { kind: 'answer', status: 422, body, method: 'POST', path: 'conversations$', times: 1 })
  const refused = await client.post('/conversations', { inbox_id: 1, contact_id: 1, source_id: '5511' })
  assert.deepEqual([refused.status, refused.body], [422, body])
})

test('a reset deletes all rows and keeps the facts', async () => {
  await openChat(client, '5511')
  await client.get('/nowhere')
  assert.equal((await ask('GET', '/refusals')).body['length'], 1)
  const { body } = await ask('POST', '/reset')
  const facts = { ...helpdesk.facts, agent_view: helpdesk.agentView }
  assert.deepEqual(body, facts)
  assert.deepEqual((await ask('GET', '/')).body, facts)
  assert.equal((await ask('GET', '/refusals')).body['length'], 0)
  assert.equal(helpdesk.see.contacts().length, 0)
})
