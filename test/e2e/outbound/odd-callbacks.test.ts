// What a running Chatwoot sends beside the messages of agents: rules, choices, repetitions, changes that mean nothing to us.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { recordingOf } from '../../sim-helpdesk/harness/recordings.ts'

const messagesOf = (conversation: number) => `/conversations/${conversation}/messages`

/** Every delivery since then was answered with 200. */
function assertAllFollowed(world: AgentWorld, from: number): void {
  const bad = [...world.helpdesk.deliveries].slice(from).filter(({ status }) => status !== 200)
  assert.deepEqual(bad, [])
}

test('the answer of an automation rule has no sender and reaches the customer, also in a pending conversation', async () => {
  await using world = await AgentWorld.open({ helpdesk: { quirks: { ...calm, automationFirst: 1 } } })
  world.helpdesk.world.addAutomation('We answer soon')
  const first = await world.arrived(world.bob.text(world.phone, 'hi'))
  await world.received('We answer soon')
  await world.helpdesk.settled()
  const answer = world.helpdesk.messages().find(({ content }) => content === 'We answer soon')
  assert.deepEqual([answer?.sender, answer?.messageType], [null, 'outgoing'])
  assert.ok(Number(answer?.contentAttributes['automation_rule_id']) > 0)
  await world.agent.post(`/conversations/${first.conversationId}/toggle_status`, { status: 'pending' })
  await world.arrived(world.bob.text(world.phone, 'still there?'))
  await waitUntil('the rule answers again', () => world.texts().length === 2)
  await world.helpdesk.settled()
  assert.deepEqual(world.texts(), ['We answer soon', 'We answer soon'])
})

test('choices, a form, cards and an article arrive as readable texts', async () => {
  await using world = await AgentWorld.open()
  const expected = new Map([
    ['post input_select', 'Please (input_select)\n\n1. Yes\n2. No'],
    ['post form', 'Please (form)\n\nE-mail (Mail)\nPick:\n1. A'],
    ['post article', 'Please (article)\n\n*Doc*\nd\nhttps://docs.example/1'],
    ['cards, no content', '*Card 1*\ndesc\nhttps://img.example/x.jpg\nView: https://x.example\n1. Buy'],
  ])
  for (const [what, text] of expected) {
    const { request } = recordingOf('interactive', what) as unknown as { request: { body: object } }
    const { status, text: refusal } = await world.agent.post(messagesOf(world.conversation), request.body)
    assert.equal(status, 200, refusal)
    await world.received(text)
  }
  assert.deepEqual(world.texts(), [...expected.values()])
})

for (const signed of [false, true]) {
  const how = signed ? 'refused because of its own secret' : 'heard'
  test(`an account webhook beside the one of the helpdesk inbox is ${how}, and each message leaves once`, async () => {
    const environment = signed ? {} : { WEBHOOK_HMAC_SECRET: '' }
    await using world = await AgentWorld.open({ environment })
    const url = `${world.service.url}/api/instances/n0/webhook`
    const subscriptions = ['message_created', 'message_updated', 'conversation_updated', 'conversation_typing_on']
    await world.desk.post('/webhooks', { webhook: { url, subscriptions } })
    const texts = ['one', 'two', 'three']
    for (const text of texts) await world.write(text)
    await waitUntil('all have arrived', () => world.texts().length >= texts.length)
    await world.helpdesk.settled()
    const created = world.helpdesk.deliveries.filter(({ event }) => event === 'message_created')
    assert.equal(created.filter(({ status }) => status === 200).length, signed ? texts.length : 2 * texts.length)
    assert.equal(created.length, 2 * texts.length)
    assert.deepEqual(world.texts().sort(), texts.toSorted())
    const states = world.helpdesk.messages(world.conversation).map(({ status }) => status)
    assert.deepEqual(new Set(states), new Set(['sent']))
  })
}

test('a merge reports every moved message of the customer: each is answered at once, without a request or a send', async () => {
  await using world = await AgentWorld.open()
  const carol = world.network.person({ phone: '5511888880002', pushName: 'Carol' })
  const sent = Array.from({ length: 20 }, (_, index) => carol.text(world.phone, `text ${index}`))
  const moved = await Promise.all(sent.map((each) => world.arrived(each)))
  const base = await world.arrived(world.bob.text(world.phone, 'hi'))
  // The service has the answers to its own requests.
  await world.drained()
  await world.helpdesk.settled()
  const from = world.helpdesk.deliveries.length
  const merge = { base_contact_id: base.sender?.id, mergee_contact_id: moved[0]?.sender?.id }
  assert.equal((await world.agent.post('/actions/contact_merge', merge)).status, 200)
  await world.helpdesk.settled()
  const updates = [...world.helpdesk.deliveries].slice(from)
  assert.deepEqual([updates.length, new Set(updates.map(({ event }) => event))], [20, new Set(['message_updated'])])
  assertAllFollowed(world, from)
  const isOfService = ({ path }: { path: string }) => !path.endsWith('/contact_merge')
  const asked = world.helpdesk.requests.filter(({ at }) => at >= (updates[0]?.at ?? 0)).filter(isOfService)
  assert.deepEqual([asked, world.texts(), world.texts(carol)], [[], [], []])
})

test('messages that reopen a conversation side by side, and incoming notes, are followed and send nothing', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_CONVERSATION_MODE: 'reopen' } })
  const { conversationId } = await world.arrived(world.bob.text(world.phone, 'hi'))
  await world.agent.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
  await world.helpdesk.settled()
  const from = world.helpdesk.deliveries.length
  const post = (content: string, more: object = {}) =>
    world.desk.post(messagesOf(conversationId), { content, message_type: 'incoming', source_id: content, ...more })
  await Promise.all(['a', 'b', 'c', 'd'].map((each) => post(each)))
  await world.agent.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
  await post('a note', { private: true })
  await world.helpdesk.settled()
  assertAllFollowed(world, from)
  assert.deepEqual(world.texts(), [])
  const next = await world.arrived(world.bob.text(world.phone, 'next'))
  assert.equal(next.conversationId, conversationId)
})

test('a change of a conversation that we do not know, or of another inbox, changes nothing', async () => {
  await using world = await AgentWorld.open()
  const first = await world.arrived(world.bob.text(world.phone, 'hi'))
  const resolved = { status: 'resolved', agent_last_seen_at: Math.floor(Date.now() / 1000), changed_attributes: null }
  const label = [{ cached_label_list: { previous_value: null, current_value: 'vip' } }]
  for (const event of ['conversation_updated', 'conversation_status_changed']) {
    for (const place of [{ id: 4711, inbox_id: 1 }, { id: first.conversationId, inbox_id: 2 }, { inbox_id: 1 }]) {
      assert.equal((await world.post({ ...resolved, ...place, changed_attributes: label, event })).status, 200)
    }
  }
  const second = await world.arrived(world.bob.text(world.phone, 'again'))
  assert.equal(second.conversationId, first.conversationId)
})

test('a changed message is answered 200, however broken it is, and the log and health name the field', async () => {
  await using world = await AgentWorld.open()
  const id = await world.write('delivered')
  await world.received('delivered')
  const broken = [{ id: 'x' }, { id: null }, { content_attributes: '{}' }, { source_id: {} }, { conversation: [] }]
  for (const flaw of broken) {
    const { status, body } = await world.post(world.callback(id, 'delivered', { event: 'message_updated', ...flaw }))
    assert.deepEqual([status, body], [200, { status: 'ignored', reason: 'unreadable' }])
  }
  assert.equal(await world.metric('service_callbacks_refused_total{reason="unreadable"}'), broken.length)
  const [line, ...more] = world.service.logs.withMessage('callbacks are refused')
  assert.match(String(line?.['sentence']), /^id must be/)
  assert.deepEqual(more, [])
  const [refused] = (await world.health()).checks.callbacks_refused
  assert.match(refused?.sentence ?? '', /^conversation must be an object/)
  assert.deepEqual(world.texts(), ['delivered'])
  assert.equal((await world.shown(id, () => true)).status, 'sent')
})

test('the webhook never redirects: Chatwoot would post the message again at the new address', async () => {
  await using world = await AgentWorld.open()
  const { url } = world.service.app
  for (const path of ['webhook', 'webhook/', 'webhook//', 'webhook?x=1', 'Webhook', '../n0/webhook']) {
    const headers = { 'content-type': 'application/json', 'if-none-match': '*' }
    const place = `${url}/api/instances/n0/${path}`
    const { status } = await fetch(place, { method: 'POST', body: '{}', headers, redirect: 'manual' })
    assert.ok(status >= 400, `${path}: ${status}`)
  }
})
