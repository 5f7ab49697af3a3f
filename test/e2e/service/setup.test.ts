// From nothing to a two-way message: one call creates the instance and its helpdesk inbox, and a phone scans the code.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { HelpdeskVersion } from '../../../sim/helpdesk/versions.ts'
import { engines } from '../../harness/databases.ts'
import { SetupWorld } from '../../harness/setup-world.ts'
import { chatwootSignatureOf, signatureOf } from '../../harness/signed-callback.ts'

/** A customer writes to the account and an agent answers; both messages arrive. */
async function talk(world: SetupWorld, phone: Awaited<ReturnType<SetupWorld['scan']>>): Promise<void> {
  const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  const hello = await world.arrived(maria.text(phone, 'hello'))
  const path = `/conversations/${hello.conversationId}/messages`
  const answer = { content: 'how can I help?', message_type: 'outgoing' }
  const { status, text } = await world.agent.post(path, answer)
  assert.equal(status, 200, text)
  await maria.messages.waitFor('the answer', ({ message }) => textOfMessage(message) === answer.content, 60_000)
}

async function startFromNothing(world: SetupWorld): Promise<{ inbox: Record<string, unknown> }> {
  const { status, body, text } = await world.create({ name: 'sales', inbox: true })
  assert.equal(status, 201, text)
  await talk(world, await world.scan('sales'))
  world.helpdesk.assertNothingRefused()
  return body as { inbox: Record<string, unknown> }
}

for (const engine of engines) {
  test(`one call and one scan lead from an empty database to a two-way message, on ${engine}`, async () => {
    await using world = await SetupWorld.open({ engine })
    const { inbox } = await startFromNothing(world)
    const [made, ...others] = await world.inboxes()
    assert.deepEqual(others, [])
    assert.deepEqual(inbox, {
      inbox_id: made?.id,
      name: 'sales',
      webhook_url: world.webhookOf('sales'),
      action: 'created',
      shared: false,
      secret_stored: true,
      members: 2,
    })
    assert.equal(await world.inboxIdOf('sales'), made?.id)
    assert.equal(made?.webhook_url, world.webhookOf('sales'))
  })
}

for (const version of ['3.4', '4.3', '4.12'] satisfies HelpdeskVersion[]) {
  test(`Chatwoot ${version} has no secret, and the same call leads to a two-way message`, async () => {
    await using world = await SetupWorld.open({ helpdesk: { version } })
    const { inbox } = await startFromNothing(world)
    assert.partialDeepStrictEqual(inbox, { action: 'created', secret_stored: false })
  })
}

test('after the set-up a callback passes only with the secret of the inbox', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'sales' })
  const body = JSON.stringify({ event: 'conversation_created', id: 1 })
  const post = async (headers: Record<string, string>) =>
    (await world.service.request('POST', '/api/instances/sales/webhook', { token: null, body, headers })).status
  assert.equal(await post({}), 200, 'without any secret callbacks are not verified')

  const { inbox_id: id } = await world.setUp('sales')
  const { secret = '' } = await world.inbox(id)
  assert.equal(await post({}), 401)
  assert.equal(await post(signatureOf(body, 'wrong')), 401)
  assert.equal(await post(chatwootSignatureOf(body, 'wrong', Date.now())), 401)
  assert.equal(await post(chatwootSignatureOf(body, secret, Date.now())), 200)

  await world.restartService()
  assert.deepEqual([await post({}), await post(chatwootSignatureOf(body, secret, Date.now()))], [401, 200])
})

test('a callback without the secret of the inbox is refused also while the helpdesk does not answer', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'sales', inbox: true })
  await world.helpdesk.fault({ kind: 'refused' })
  await world.restartService()
  const body = JSON.stringify({ event: 'conversation_created', id: 1 })
  for (const headers of [{}, signatureOf(body, 'wrong')]) {
    const asked = { token: null, body, headers }
    assert.equal((await world.service.request('POST', '/api/instances/sales/webhook', asked)).status, 401)
  }
})

test('a wrong address of the helpdesk does not open the webhook to callbacks without the secret', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'sales', inbox: true })
  const { secret = '' } = await world.inbox(await world.inboxIdOf('sales'))
  await world.restartService({ DOWNSTREAM_BASE_URL: 'http://127.0.0.1:1' })
  const body = JSON.stringify({ event: 'conversation_created', id: 1 })
  const post = async (headers: Record<string, string>) =>
    (await world.service.request('POST', '/api/instances/sales/webhook', { token: null, body, headers })).status
  assert.equal(await post({}), 401)
  assert.equal(await post(signatureOf(body, 'wrong')), 401)
  assert.equal(await post(chatwootSignatureOf(body, secret, Date.now())), 200)
})

test('a callback passes with the secret of the inbox, of the tenant or of the service', async () => {
  await using world = await SetupWorld.open({ environment: { WEBHOOK_HMAC_SECRET: 'of the service' } })
  const { url, api_token: token } = world.helpdesk.facts
  const tenant = { downstream_base_url: url, downstream_api_token: token, downstream_account_id: 1 }
  await world.service.request('PUT', '/api/tenants/acme', {
    body: { ...tenant, downstream_inbox_id: 0, webhook_hmac_secret: 'of the tenant' },
  })
  await world.create({ name: 'sales', owner_tag: 'acme', inbox: true })
  const { secret = '' } = await world.inbox(await world.inboxIdOf('sales'))
  const body = JSON.stringify({ event: 'conversation_created', id: 1 })
  const post = async (name: string, key: string) => {
    const headers = signatureOf(body, key)
    return (await world.service.request('POST', `/api/instances/${name}/webhook`, { token: null, body, headers }))
      .status
  }
  for (const key of [secret, 'of the tenant', 'of the service']) assert.equal(await post('sales', key), 200, key)
  assert.equal(await post('sales', 'of nobody'), 401)
  assert.equal(await post('unknown', 'of the service'), 404)
  assert.equal(await post('unknown', secret), 401)
})

test('after Chatwoot has a new secret, the next set-up stores it', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'sales', inbox: true })
  const phone = await world.scan('sales')
  const id = await world.inboxIdOf('sales')
  await world.desk.post(`/inboxes/${id}/reset_secret`)
  assert.partialDeepStrictEqual(await world.setUp('sales'), { action: 'unchanged', secret_stored: true })
  await talk(world, phone)
})

test('after Chatwoot was replaced by one that signs nothing, the next set-up forgets the secret', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'sales', inbox: true })
  const callback = JSON.stringify({ event: 'conversation_created', id: 1 })
  const post = async () =>
    (await world.service.request('POST', '/api/instances/sales/webhook', { token: null, body: callback })).status
  assert.equal(await post(), 401)
  const { secret, ...body } = await world.inbox(await world.inboxIdOf('sales'))
  assert.ok(secret)
  await world.helpdesk.fault({ kind: 'answer', status: 200, body, method: 'GET', path: /\/inboxes\/\d+$/ })
  assert.partialDeepStrictEqual(await world.setUp('sales'), { action: 'unchanged', secret_stored: false })
  assert.equal(await post(), 200)
})

test('the secret is shown nowhere: not in an answer, the audit log, the log or the details', async () => {
  await using world = await SetupWorld.open()
  const created = await world.create({ name: 'sales', inbox: true })
  const again = await world.trySetUp('sales')
  const { secret = '' } = await world.inbox(await world.inboxIdOf('sales'))
  assert.notEqual(secret, '')
  const pages = await Promise.all(
    ['/api/instances/sales', '/api/audit', '/api/health', '/metrics'].map((path) => world.service.get(path)),
  )
  const shown = [created, again, ...pages].map(({ text }) => text).join('\n') + JSON.stringify(world.service.logs.lines)
  assert.ok(!shown.includes(secret))
  const [entry] = await world.audited()
  assert.partialDeepStrictEqual(entry?.metadata, { action: 'unchanged', secret_stored: true, shared: false })
})

test('messages that were held until there is an inbox are delivered at once after the set-up', async () => {
  await using world = await SetupWorld.open()
  const phone = await world.pair('sales')
  const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  const sent = maria.text(phone, 'before the inbox')
  await world.setUp('sales')
  await world.arrived(sent)
})
