// The account subscribes to the people with whom agents work. It never comes online for that, so the owner's phone still rings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import {
  agentActs,
  counted,
  deviceOf,
  opened,
  shows,
  subscriptionsOf,
  typingRequests,
  watched,
} from '../../harness/typing-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** Whether the account was ever shown online. */
function wasOnline(world: AgentWorld): boolean {
  const presences = world.network.log.find({ tag: 'presence' }).filter(({ direction }) => direction === 'in')
  return presences.some(({ attrs }) => attrs['type'] === 'available')
}

test('the phone still rings while no agent is active, also after customers wrote and after an agent has gone', async () => {
  await using world = await AgentWorld.open({ clock: new FastClock(10), environment: { SERVICE_PRESENCE: 'auto' } })
  const conversation = await opened(world)
  world.bob.typing(world.phone)
  await opened(world, world.network.person({ phone: '5511888880002', pushName: 'Eve' }))
  assert.ok(!wasOnline(world), 'customers do not make the account online')
  assert.deepEqual([deviceOf(world).available, subscriptionsOf(world)], [false, []])
  await agentActs(world, conversation)
  await waitUntil('the account is online', () => deviceOf(world).available)
  await waitUntil('both chats are subscribed to', () => deviceOf(world).subscriptions.size === 2, {
    instead: () => subscriptionsOf(world),
  })
  await waitUntil('the account is offline 2 minutes after the agent acted', () => !deviceOf(world).available)
  world.bob.typing(world.phone)
  await opened(world)
  assert.ok(!deviceOf(world).available)
  assert.equal(subscriptionsOf(world).length, 2)
  assert.deepEqual(typingRequests(world), [])
})

test('SERVICE_PRESENCE=never: the account is never online, and nothing is asked of the network', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_PRESENCE: 'never' } })
  const conversation = await opened(world)
  await agentActs(world, conversation)
  await world.write('answer', {}, conversation)
  await world.received('answer')
  world.bob.typing(world.phone)
  await opened(world)
  assert.ok(!wasOnline(world))
  assert.deepEqual([subscriptionsOf(world), typingRequests(world)], [[], []])
  await counted(world, {})
})

test('SERVICE_PRESENCE=online: a customer who has written is shown as typing without an agent', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_PRESENCE: 'online' } })
  await waitUntil('the account is online', () => deviceOf(world).available)
  const conversation = await opened(world)
  await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(world.bob.user))
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
})

test('an agent who replies, types or changes the conversation is enough', async () => {
  const acts: Record<string, (world: AgentWorld, conversation: number) => Promise<unknown>> = {
    replies: (world, conversation) => world.write('answer', {}, conversation),
    types: agentActs,
    // Chatwoot calls us with the time at which an agent last looked.
    changes: async (world, conversation) => {
      await world.agent.post(`/conversations/${conversation}/update_last_seen`, {})
      await world.agent.post(`/conversations/${conversation}/toggle_priority`, { priority: 'high' })
    },
  }
  for (const [name, act] of Object.entries(acts)) {
    // The customer wrote more than ten minutes ago.
    await using world = await AgentWorld.open({ clock: new FastClock(2) })
    const { conversationId } = await world.arrived(
      world.bob.text(world.phone, 'hello', { timestamp: Math.floor(Date.now() / 1000) - 660 }),
    )
    await act(world, conversationId)
    const isSubscribed = () => deviceOf(world).subscriptions.has(world.bob.user)
    await waitUntil(`the account is subscribed when an agent ${name}`, isSubscribed)
    assert.equal(subscriptionsOf(world).length, 1, name)
  }
})

test('a new connection is subscribed again, once for each chat, and typing is shown again', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await world.disconnect()
  await shows(world, conversation, false)
  await world.reconnect()
  await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(world.bob.user))
  assert.equal(subscriptionsOf(world).length, 2)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
})

test('ten messages of a customer and of an agent make one subscription', async () => {
  await using world = await AgentWorld.open()
  const conversation = await watched(world)
  for (let message = 0; message < 10; message++) {
    await world.arrived(world.bob.text(world.phone, `question ${message}`))
    await world.write(`answer ${message}`, {}, conversation)
    await world.received(`answer ${message}`)
  }
  assert.deepEqual(subscriptionsOf(world), [world.bob.user.pnJid])
})

test('the subscription goes to the address from which the customer last wrote', async () => {
  await using world = await AgentWorld.open()
  const { conversationId } = await world.arrived(world.bob.text(world.phone, 'hello', { addressing: 'lid' }))
  await world.write('answer', {}, conversationId)
  await agentActs(world, conversationId)
  await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(world.bob.user))
  await world.received('answer')
  assert.deepEqual([...new Set(subscriptionsOf(world))], [world.bob.user.lidJid])
})
