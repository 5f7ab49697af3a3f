// Access to the account API: tokens, accounts, roles, bots and helpdesk inboxes.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'

let helpdesk: SimHelpdesk
let client: DeskClient

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
})
beforeEach(() => helpdesk.reset())
after(() => helpdesk[Symbol.asyncDispose]())

const wrong = (status: number, error: string) => ({ status, body: { error } })

test('every refusal of access has its own body', async () => {
  const of = async (asked: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await asked
    return { status, body }
  }
  const none = await fetch(`${helpdesk.url}/api/v1/accounts/1/contacts`)
  assert.equal(none.status, 401)
  assert.deepEqual(await none.json(), { errors: ['You need to sign in or sign up before continuing.'] })
  const stranger = new DeskClient(helpdesk, 'nobody')
  assert.deepEqual(await of(stranger.get('/contacts')), wrong(401, 'Invalid Access Token'))
  const other = helpdesk.world.addAccount('Other')
  assert.deepEqual(
    await of(new DeskClient(helpdesk, other.token).get('/contacts')),
    wrong(401, 'You are not authorized to access this account'),
  )
  helpdesk.world.suspendAccount(true)
  assert.deepEqual(await of(client.get('/contacts')), wrong(401, 'Account is suspended'))
})

test('the token is read from both spellings of its header, unless a proxy drops the underscores', async () => {
  const ask = (on: SimHelpdesk, header: string) =>
    fetch(`${on.url}/api/v1/accounts/1/contacts`, { headers: { [header]: on.facts.api_token } })
  assert.equal((await ask(helpdesk, 'api_access_token')).status, 200)
  assert.equal((await ask(helpdesk, 'Api-Access-Token')).status, 200)
  await using proxied = await SimHelpdesk.start({ dropUnderscoreHeaders: true })
  assert.equal((await ask(proxied, 'api_access_token')).status, 401)
  assert.equal((await ask(proxied, 'Api-Access-Token')).status, 200)
})

test('an agent sees only the helpdesk inboxes they belong to and may not change them', async () => {
  const second = helpdesk.world.addInbox({ name: 'Second' })
  const ana = helpdesk.world.addAgent({ name: 'Ana', inboxIds: [second.id] })
  const asAna = new DeskClient(helpdesk, ana.token)
  const chat = await openChat(client, 'one')
  const refused = await asAna.get(`/conversations/${chat}`)
  assert.deepEqual([refused.status, refused.body['error']], [401, 'You are not authorized to do this action'])
  assert.equal((await asAna.patch(`/inboxes/${second.id}`, { name: 'Mine' })).status, 401)
  const shown = await asAna.get(`/inboxes/${second.id}`)
  assert.ok(!('secret' in shown.body) && !('hmac_token' in shown.body))
})

test('a bot may write messages and use few other routes', async () => {
  const chat = await openChat(client, 'one')
  const asBot = new DeskClient(helpdesk, helpdesk.world.addBot('Robot').token)
  const sent = await asBot.post(`/conversations/${chat}/messages`, { content: 'beep' })
  assert.equal(sent.status, 200)
  for (const asked of [asBot.get('/contacts'), asBot.patch(`/conversations/${chat}/messages/${sent.body.id}`, {})]) {
    const { status, body } = await asked
    assert.deepEqual([status, body['error']], [401, 'Access to this endpoint is not authorized for bots'])
  }
})

test('a helpdesk inbox shows its secrets to administrators and takes a webhook address and a new secret', async () => {
  const patched = await client.patch('/inboxes/1', { channel: { webhook_url: 'http://127.0.0.1:9/hook' } })
  assert.deepEqual(
    [patched.body['webhook_url'], patched.body['secret'], patched.body['inbox_identifier']],
    ['http://127.0.0.1:9/hook', helpdesk.facts.webhook_secret, helpdesk.inbox.identifier],
  )
  const reset = await client.post('/inboxes/1/reset_secret')
  assert.notEqual(reset.body['secret'], patched.body['secret'])
  const long = await client.patch('/inboxes/1', { channel: { webhook_url: `http://x/${'y'.repeat(2048)}` } })
  assert.deepEqual([long.status, long.body['attributes']], [422, ['webhook_url']])
  const made = await client.post('/inboxes', {
    name: 'New',
    channel: { type: 'api', webhook_url: 'http://127.0.0.1:9/' },
  })
  assert.equal(made.status, 200)
  await client.delete('/inboxes/1')
  await helpdesk.settled()
  assert.equal((await client.get('/inboxes/1')).status, 404)
})

test('only members can read an account', async () => {
  const { status, body } = await client.get('')
  assert.equal(status, 200)
  assert.deepEqual([body.id, body['name'], body['status'], body['locale']], [1, 'Acme', 'active', 'en'])
  const { token } = helpdesk.world.addAccount('Other')
  assert.equal((await new DeskClient(helpdesk, token).get('')).status, 401)
  helpdesk.assertNothingRefused()
})

test('an account sees no rows of another account', async () => {
  const chat = await openChat(client, 'one')
  const other = helpdesk.world.addAccount('Other')
  const stranger = new DeskClient(helpdesk, other.token, other.id)
  assert.equal((await stranger.get(`/conversations/${chat}`)).status, 404)
  assert.equal((await stranger.get('/contacts/1')).status, 404)
  assert.equal((await stranger.get('/inboxes/1')).status, 404)
  assert.equal((await stranger.post('/contacts', { name: 'X', inbox_id: 1 })).status, 404)
})

test('the same seed gives the same tokens, another seed gives others, and a reset keeps them', async () => {
  const before = helpdesk.facts
  await helpdesk.reset()
  assert.deepEqual(helpdesk.facts, before)
  await using twin = await SimHelpdesk.start()
  await using other = await SimHelpdesk.start({ seed: 'other' })
  assert.equal(twin.facts.api_token, before.api_token)
  assert.notEqual(other.facts.api_token, before.api_token)
})

test('the API shows its version and its health', async () => {
  const { body } = await client.get('//api')
  assert.equal((body as unknown as { version: string }).version, '4.14.1')
  assert.deepEqual((await client.get('//health')).body, { status: 'woot' })
})
