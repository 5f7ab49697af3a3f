// The helpdesk's own events as it sends and signs them, and requests that are not what they claim to be.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')

/** A callback with Chatwoot's signature, made at this time. */
function signed(stage: OutboundStage, body: string, at = Date.now(), secret = stage.helpdesk.facts.webhook_secret) {
  const timestamp = String(Math.floor(at / 1000))
  return {
    'x-chatwoot-timestamp': timestamp,
    'x-chatwoot-signature': `sha256=${hex(secret, `${timestamp}.${body}`)}`,
  }
}

const send = (stage: OutboundStage, body: string | Buffer, headers: Record<string, string>) =>
  fetch(`${stage.service.app.url}/api/instances/n0/webhook`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

test('all seven events, as they come and again under our own signature: understood, and sent once', async () => {
  await using stage = await OutboundStage.open()
  const eve = stage.network.person({ phone: '5511888880002', pushName: 'Eve' })
  const question = eve.text(stage.phone, 'hello?')
  const asked = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  const place = `/conversations/${asked.conversationId}`
  await stage.agent.post(`${place}/toggle_typing_status`, { typing_status: 'on' })
  await stage.agent.post(`${place}/toggle_typing_status`, { typing_status: 'off' })
  await stage.agent.post(`${place}/messages`, { content: 'a note', private: true })
  const id = await stage.write('answer', {}, asked.conversationId)
  await stage.received('answer', eve)
  await stage.agent.delete(`${place}/messages/${id}`)
  await waitUntil('it is taken back', () => eve.messages.length === 2)
  await stage.agent.post(`${place}/toggle_status`, { status: 'resolved' })
  await stage.helpdesk.settled()
  const deliveries = [...stage.helpdesk.deliveries]
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
  for (const { body } of deliveries) assert.equal((await stage.post(body)).status, 200)
  await stage.write('the end', {}, asked.conversationId)
  await stage.received('the end', eve)
  assert.equal(eve.messages.length, 3, 'the answer, its deletion, the end')
  stage.helpdesk.assertNothingRefused()
})

test('Chatwoot’s signature: five minutes either way, of this body, at this time, with this secret', async () => {
  await using stage = await OutboundStage.open()
  const body = (id: number) => JSON.stringify(stage.callback(id, `text ${id}`))
  for (const [id, at] of [Date.now() - 280_000, Date.now() + 280_000].entries()) {
    assert.equal((await send(stage, body(id + 1), signed(stage, body(id + 1), at))).status, 200)
  }
  const refused = [
    signed(stage, body(3), Date.now() - 320_000),
    signed(stage, body(3), Date.now() + 320_000),
    signed(stage, body(4)),
    signed(stage, body(3), Date.now(), 'another secret'),
    { ...signed(stage, body(3)), 'x-chatwoot-timestamp': String(Math.floor(Date.now() / 1000) + 7) },
    { 'x-chatwoot-signature': signed(stage, body(3))['x-chatwoot-signature'] },
    { 'x-service-signature': hex(stage.helpdesk.facts.webhook_secret, body(3)) },
    {},
  ]
  for (const headers of refused) assert.equal((await send(stage, body(3), headers)).status, 401)
  assert.deepEqual(stage.texts(), ['text 1', 'text 2'])
})

test('a helpdesk whose clock is wrong is refused, and its message fails there', async () => {
  await using stage = await OutboundStage.open()
  await stage.helpdesk.advance(6 * 60_000)
  const id = await stage.write('from the future')
  const shown = await stage.shown(id, ({ status }) => status === 'failed')
  assert.match(String(shown.contentAttributes['external_error']), /^401/)
  assert.deepEqual(stage.texts(), [])
})

test('an old helpdesk that signs nothing is refused while there is a secret, and heard without one', async () => {
  await using stage = await OutboundStage.open({ helpdesk: { signWebhooks: false } })
  const id = await stage.write('unsigned')
  await stage.shown(id, ({ status }) => status === 'failed')
  await stage.restart({ WEBHOOK_HMAC_SECRET: '' })
  await stage.write('open door')
  await stage.received('open door')
  assert.deepEqual(stage.texts(), ['open door'])
})

test('a tenant’s own secret counts, not the one of everybody', async () => {
  await using stage = await OutboundStage.open()
  const { url, api_token, account_id, inbox_id } = stage.helpdesk.facts
  const tenant = {
    downstream_base_url: url,
    downstream_api_token: api_token,
    downstream_account_id: account_id,
    downstream_inbox_id: inbox_id,
    webhook_hmac_secret: 'the secret of acme',
  }
  assert.equal((await stage.service.request('PUT', '/api/tenants/acme', { body: tenant })).status, 200)
  await stage.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'acme' } })
  assertRefused(await stage.post(stage.callback(1, 'no')), 'SERVICE_UNAUTHORIZED')
  assert.equal((await stage.post(stage.callback(1, 'yes'), { secret: 'the secret of acme' })).status, 200)
  assert.deepEqual(stage.texts(), ['yes'])
})

test('what is not a callback is refused with the name of the field, and nothing of it is sent', async () => {
  await using stage = await OutboundStage.open()
  const rows: [more: Record<string, unknown>, field: RegExp][] = [
    [{ content: 5 }, /content must be a string/],
    [{ private: 'no' }, /private must be true or false/],
    [{ id: 'seven' }, /id must be a positive integer/],
    [{ id: -1 }, /id must be/],
    [{ id: 2 ** 60 }, /id must be/],
    [{ event: ['message_created'] }, /event must be/],
    [{ conversation: [] }, /conversation must be an object/],
    [{ conversation: { meta: { sender: { identifier: 5 } } } }, /conversation\.meta\.sender\.identifier/],
    [{ account: 'one' }, /account must be an object/],
    [{ attachments: { 0: {} } }, /attachments must be a list/],
    [{ attachments: [{ data_url: '' }] }, /attachments\[0\]\.data_url/],
    [{ content_attributes: 'x' }, /content_attributes must be an object/],
    [{ event: null, message_type: null }, /event must be/],
  ]
  for (const [more, field] of rows) {
    assertRefused(await stage.post(stage.callback(1, 'x', more)), 'SERVICE_BAD_REQUEST', field)
  }
  const deep = `{"event":"message_created","x":${'['.repeat(100)}${']'.repeat(100)}}`
  for (const body of [deep, '', 'null', '"text"', '{"event":"message_created"', '{"__proto__":{"event":"x"}}']) {
    assertRefused(await stage.post(body), 'SERVICE_BAD_REQUEST')
  }
  const broken = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  const signature = createHmac('sha256', stage.helpdesk.facts.webhook_secret).update(broken).digest('hex')
  assert.equal((await send(stage, broken, { 'x-service-signature': `sha256=${signature}` })).status, 400)
  const huge = await send(stage, `{"content":"${'x'.repeat(5 * 1024 ** 2)}"}`, {})
  assert.equal(huge.status, 413)
  assert.deepEqual(stage.texts(), [])
  assert.equal((await stage.outbox())['pending'], 0)
})

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`whatever a text is made of can be stored, sent and quoted, on ${engine}`, async () => {
    await using stage = await OutboundStage.open({ engine })
    const odd = 'a\u0000b \u{1F469}\u{1F3FD}\u200D\u{1F692} \u202Eرجل \uFFFF "quoted" \\ {{liquid}} <b>'
    const { status, body } = await stage.post(stage.callback(1, odd))
    assert.equal(status, 200, JSON.stringify(body))
    await stage.received(odd)
    const reply = stage.callback(2, 'see above', { content_attributes: { in_reply_to: 1 } })
    assert.equal((await stage.post(reply)).status, 200)
    const { message } = await stage.received('see above')
    assert.equal(message.extendedTextMessage?.contextInfo?.quotedMessage?.conversation, odd)
    assert.equal((await stage.post(stage.callback(3, 'half \uD83D of a pair'))).status, 200)
    assert.equal(stage.bob.messages.length, 3)
  })
}
