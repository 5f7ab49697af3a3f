// The helpdesk's own events as it sends and signs them, and requests that are not what they claim to be.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { tenantSettings } from '../../harness/destination.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')

/** A callback with Chatwoot's signature, made at this time. */
function signed(world: AgentWorld, body: string, at = Date.now(), secret = world.helpdesk.facts.webhook_secret) {
  const timestamp = String(Math.floor(at / 1000))
  return {
    'x-chatwoot-timestamp': timestamp,
    'x-chatwoot-signature': `sha256=${hex(secret, `${timestamp}.${body}`)}`,
  }
}

const send = (world: AgentWorld, body: string | Buffer, headers: Record<string, string>) =>
  fetch(`${world.service.url}/api/instances/n0/webhook`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

test('all seven events, as they come and again under our own signature: understood, and sent once', async () => {
  await using world = await AgentWorld.open()
  const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
  const question = eve.text(world.phone, 'hello?')
  const asked = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id)
  const place = `/conversations/${asked.conversationId}`
  await world.agent.post(`${place}/toggle_typing_status`, { typing_status: 'on' })
  await world.agent.post(`${place}/toggle_typing_status`, { typing_status: 'off' })
  await world.agent.post(`${place}/messages`, { content: 'a note', private: true })
  const id = await world.write('answer', {}, asked.conversationId)
  await world.received('answer', eve)
  await world.agent.delete(`${place}/messages/${id}`)
  await waitUntil('it is taken back', () => eve.messages.length === 2)
  await world.agent.post(`${place}/toggle_status`, { status: 'resolved' })
  await world.helpdesk.settled()
  const deliveries = [...world.helpdesk.deliveries]
  assert.deepEqual(
    [...new Set(deliveries.map(({ event }) => event))].sort(),
    [
      'conversation_created',
      'conversation_status_changed',
      'conversation_typing_off',
      'conversation_typing_on',
      'conversation_updated',
      'message_created',
      'message_updated',
    ],
    'nothing else comes to an inbox',
  )
  for (const { event, status, error } of deliveries) assert.equal(status, 200, `${event}: ${String(error)}`)
  for (const { body } of deliveries) assert.equal((await world.post(body)).status, 200)
  await world.write('the end', {}, asked.conversationId)
  await world.received('the end', eve)
  assert.equal(eve.messages.length, 3, 'the answer, its deletion, the end')
  world.helpdesk.assertNothingRefused()
})

test('Chatwoot’s signature: five minutes either way, of this body, at this time, with this secret', async () => {
  await using world = await AgentWorld.open()
  const body = (id: number) => JSON.stringify(world.callback(id, `text ${id}`))
  for (const [id, at] of [Date.now() - 280_000, Date.now() + 280_000].entries()) {
    assert.equal((await send(world, body(id + 1), signed(world, body(id + 1), at))).status, 200)
  }
  const refused = [
    signed(world, body(3), Date.now() - 320_000),
    signed(world, body(3), Date.now() + 320_000),
    signed(world, body(4)),
    signed(world, body(3), Date.now(), 'another secret'),
    { ...signed(world, body(3)), 'x-chatwoot-timestamp': String(Math.floor(Date.now() / 1000) + 7) },
    { 'x-chatwoot-signature': signed(world, body(3))['x-chatwoot-signature'] },
    { 'x-service-signature': hex(world.helpdesk.facts.webhook_secret, body(3)) },
    {},
  ]
  for (const headers of refused) assert.equal((await send(world, body(3), headers)).status, 401)
  assert.deepEqual(world.texts(), ['text 1', 'text 2'])
})

test('a helpdesk whose clock is wrong is refused, and its message fails there', async () => {
  await using world = await AgentWorld.open()
  await world.helpdesk.advance(6 * 60_000)
  const id = await world.write('from the future')
  const shown = await world.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /^401/)
  assert.deepEqual(world.texts(), [])
})

test('an old helpdesk that signs nothing is refused while there is a secret, and heard without one', async () => {
  await using world = await AgentWorld.open({ helpdesk: { signWebhooks: false } })
  const id = await world.write('unsigned')
  await world.shown(id, ({ status }) => status === 'failed')
  await world.restart({ WEBHOOK_HMAC_SECRET: '' })
  await world.write('open door')
  await world.received('open door')
  assert.deepEqual(world.texts(), ['open door'])
})

test('a callback passes with the secret of its tenant or of the service, and with no other one', async () => {
  await using world = await AgentWorld.open()
  const tenant = { ...tenantSettings(world.helpdesk), webhook_hmac_secret: 'the secret of acme' }
  assert.equal((await world.service.request('PUT', '/api/tenants/acme', { body: tenant })).status, 200)
  await world.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
  assertRefused(await world.post(world.callback(1, 'no'), { secret: 'the secret of globex' }), 'SERVICE_UNAUTHORIZED')
  assert.equal((await world.post(world.callback(1, 'tenant'), { secret: 'the secret of acme' })).status, 200)
  assert.equal((await world.post(world.callback(2, 'service'))).status, 200)
  assert.deepEqual(world.texts(), ['tenant', 'service'])
})

test('what is not a callback is refused with the name of the field, and nothing of it is sent', async () => {
  await using world = await AgentWorld.open()
  const rows: [more: Record<string, unknown>, field: RegExp][] = [
    [{ content: 5 }, /content must be a string/],
    [{ id: 'seven' }, /id must be a positive integer/],
    [{ id: -1 }, /id must be/],
    [{ id: 2 ** 60 }, /id must be/],
    [{ event: ['message_created'] }, /event must be/],
    [{ conversation: [] }, /conversation must be an object/],
    [{ conversation: { meta: { sender: { identifier: 5 } } } }, /conversation\.meta\.sender\.identifier/],
    [{ account: 'one' }, /account must be an object/],
    [{ attachments: { 0: {} } }, /attachments must be a list/],
    [{ attachments: ['file'] }, /attachments\[0\] must be an object/],
    [{ content_attributes: 'x' }, /content_attributes must be an object/],
    [{ event: null, message_type: null }, /event must be/],
  ]
  for (const [more, field] of rows) {
    assertRefused(await world.post(world.callback(1, 'x', more)), 'SERVICE_BAD_REQUEST', field)
  }
  const deep = `{"event":"message_created","x":${'['.repeat(100)}${']'.repeat(100)}}`
  for (const body of [deep, '', 'null', '"text"', '{"event":"message_created"', '{"__proto__":{"event":"x"}}']) {
    assertRefused(await world.post(body), 'SERVICE_BAD_REQUEST')
  }
  const broken = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  const signature = createHmac('sha256', world.helpdesk.facts.webhook_secret).update(broken).digest('hex')
  assert.equal((await send(world, broken, { 'x-service-signature': `sha256=${signature}` })).status, 400)
  const huge = await send(world, `{"content":"${'x'.repeat(5 * 1024 ** 2)}"}`, {})
  assert.equal(huge.status, 413)
  assert.deepEqual(world.texts(), [])
  assert.equal((await world.outbox())['pending'], 0)
})

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`a text of any characters is stored, sent and quoted, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const odd = 'a\u0000b \u{1F469}\u{1F3FD}\u200D\u{1F692} \u202Eرجل \uFFFF "quoted" \\ {{liquid}} <b>'
    const { status, body } = await world.post(world.callback(1, odd))
    assert.equal(status, 200, JSON.stringify(body))
    await world.received(odd)
    const reply = world.callback(2, 'see above', { content_attributes: { in_reply_to: 1 } })
    assert.equal((await world.post(reply)).status, 200)
    const { message } = await world.received('see above')
    assert.equal(message.extendedTextMessage?.contextInfo?.quotedMessage?.conversation, odd)
    assert.equal((await world.post(world.callback(3, 'half \uD83D of a pair'))).status, 200)
    await world.received('half \uFFFD of a pair')
    assert.equal(world.bob.messages.length, 3)
  })
}
