// Agents see that customers type, and typing always ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import {
  counted,
  deviceOf,
  opened,
  shows,
  subscriptionsOf,
  typingRequests,
  watched,
} from '../../harness/typing-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a customer who types or records is shown as typing until he stops', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8) })
  const conversation = await watched(world)
  for (const state of ['composing', 'recording'] as const) {
    world.bob.typing(world.phone, state)
    await shows(world, conversation, true)
    world.bob.typing(world.phone, 'paused')
    await shows(world, conversation, false)
  }
  await counted(world, { ok: 4 })
  await world.helpdesk.settled()
  const agents = world.bob.side.entries.filter(({ tag }) => tag === 'chatstate')
  assert.equal(agents.length, 2, 'only the typing of the agent, not the callbacks about the customer')
  world.helpdesk.assertNothingRefused()
})

test('a customer who types under an anonymous id is shown in the same conversation', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone, 'composing', 'lid')
  await shows(world, conversation, true)
  await counted(world, { ok: 1 })
})

test('in a group the group is shown as typing', async () => {
  await using world = await AgentWorld.open()
  const group = world.network.group('Choir', world.bob, [world.phone])
  const { conversationId } = await world.arrived(world.bob.text(group, 'hello'))
  await world.write('hello choir', {}, conversationId)
  await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(group.jid))
  world.bob.typing(group)
  const { sourceId } = await shows(world, conversationId, true)
  assert.equal(sourceId, `group-${group.jid.replace('@g.us', '')}`)
  await counted(world, { ok: 1 })
})

test('a stranger who types opens neither a contact nor a conversation', async () => {
  await using world = await AgentWorld.open()
  await watched(world)
  const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
  deviceOf(world).subscribe(eve.user)
  const before = [world.helpdesk.see.contacts().length, world.helpdesk.see.conversations().length]
  eve.typing(world.phone)
  await counted(world, { no_contact: 1 })
  assert.deepEqual([world.helpdesk.see.contacts().length, world.helpdesk.see.conversations().length], before)
  assert.deepEqual(typingRequests(world), [])
})

test('a customer whose conversation was deleted or resolved is shown nowhere', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8) })
  const conversation = await watched(world)
  await world.agent.post(`/conversations/${conversation}/toggle_status`, { status: 'resolved' })
  await world.helpdesk.settled()
  world.bob.typing(world.phone)
  await counted(world, { no_conv: 1 })
  const next = await opened(world)
  assert.notEqual(next, conversation)
  await world.agent.delete(`/conversations/${next}`)
  await world.helpdesk.settled()
  world.bob.typing(world.phone)
  await counted(world, { no_conv: 2 })
})

test('a conversation that is deleted while the customer types counts as missing', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8) })
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.agent.delete(`/conversations/${conversation}`)
  world.bob.typing(world.phone, 'paused')
  await counted(world, { ok: 1, no_conv: 1 })
})

test('the helpdesk gets one request per 4 s, and the rest is counted as throttled', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(0.1) })
  const conversation = await watched(world)
  for (let key = 0; key < 20; key++) world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await counted(world, { ok: 1, throttled: 19 })
  assert.deepEqual(typingRequests(world), [200])
})

test('a helpdesk that refuses is counted, messages go on, and the end is repeated', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8) })
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.helpdesk.fault({ kind: 'status', status: 500, path: /toggle_typing/, times: 2 })
  world.bob.typing(world.phone, 'paused')
  await counted(world, { ok: 1, ds_error: 1 })
  await shows(world, conversation, false)
  await counted(world, { ok: 1, ds_error: 1 })
  await world.arrived(world.bob.text(world.phone, 'still there'))
})

test('the message of the customer ends the typing, although WhatsApp does not say so', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.arrived(world.bob.text(world.phone, 'what I typed'))
  await shows(world, conversation, false)
  await counted(world, { ok: 1 })
})

test('typing ends after a silence', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(8) })
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  const { contactTypingSince } = await shows(world, conversation, true)
  await shows(world, conversation, false)
  assert.ok(
    contactTypingSince !== null && Date.now() - contactTypingSince > 2000,
    'not earlier than 20 s on this clock',
  )
  await counted(world, { ok: 1 })
})

test('typing ends when the customer goes offline', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  world.bob.presence(world.phone, 'unavailable')
  await shows(world, conversation, false)
  await counted(world, { ok: 2 })
})

test('typing ends when the connection to WhatsApp ends', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.disconnect()
  await shows(world, conversation, false)
  await counted(world, { ok: 1 })
})

test('typing ends when the instance is deleted', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  assert.equal((await world.service.request('DELETE', '/api/instances/n0')).status, 200)
  await shows(world, conversation, false)
  await counted(world, {})
})

test('typing ends when the service stops, and a helpdesk that hangs does not keep the service from stopping', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.stop()
  await shows(world, conversation, false)
  await world.restart()
  await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.helpdesk.fault({ kind: 'slow', ms: 60_000, path: /toggle_typing/ })
  const stoppedAt = performance.now()
  await world.stop()
  const ms = performance.now() - stoppedAt
  // A request that hangs is given up after 15 s.
  assert.ok(ms < 10_000, `the stop took ${Math.round(ms)} ms`)
})

test('switched off: nothing is asked, shown or counted', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_TYPING_SYNC: 'false' } })
  const conversation = await opened(world)
  await world.write('answer', {}, conversation)
  await world.received('answer')
  await waitUntil('the account is online', () => deviceOf(world).available)
  deviceOf(world).subscribe(world.bob.user)
  world.bob.typing(world.phone)
  await world.arrived(world.bob.text(world.phone, 'what I typed'))
  assert.deepEqual([subscriptionsOf(world), typingRequests(world)], [[], []])
  await counted(world, {})
})
