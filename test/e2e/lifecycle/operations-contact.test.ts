// What agents write to the contact under which the service speaks is for the service alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const forUs = { status: 'ignored', reason: 'operations' }

/** Instance `a` is not linked yet; the helpdesk calls it. */
async function openWorld(settings: Record<string, string> = {}): Promise<AgentWorld> {
  const environment = { SERVICE_HELPDESK_NOTICES: 'true', ...settings }
  const clock = new ManualClock(Date.now())
  const world = await AgentWorld.open({ accounts: 0, environment, clock, qrLifetimeMs: 60_000 })
  await world.listen('a')
  return world
}

const pictures = ({ helpdesk }: AgentWorld) => helpdesk.messages().filter(({ files }) => files.length > 0)

async function conversationOf({ helpdesk }: AgentWorld, sentence: RegExp): Promise<number> {
  const matches = ({ content }: { content: string | null }) => sentence.test(content ?? '')
  return (await helpdesk.waitForMessage(undefined, matches, 60_000)).conversationId
}

/** The agent writes, and the helpdesk tells the service; what the service answers to exactly that callback. */
async function answerTo(world: AgentWorld, conversation: number, content: string): Promise<unknown> {
  const id = await world.write(content, {}, conversation)
  const delivery = await world.helpdesk.waitForDelivery(content, (one) => {
    return one.event === 'message_created' && (one.body as unknown as { id: number }).id === id
  })
  assert.equal(delivery.status, 200, String(delivery.error))
  return (await world.post(delivery.body, { instance: 'a' })).body
}

/** Everything that counts messages, and the queue. */
async function counters(world: AgentWorld): Promise<unknown> {
  const { service } = world
  const { text } = await service.get('/metrics')
  const counted = text.split('\n').filter((line) => /^service_(messages?_|outbox|spamguard)/.test(line))
  const { rows } = (await service.get('/api/instances/a/usage')).body as { rows: Record<string, unknown>[] }
  // A code that is shown is an event, no matter who asked for it.
  const usage = rows.map((row) => ({ ...row, lifecycle_events: 0 }))
  return { counted, usage, outbox: await world.outbox('a') }
}

test('qr asks for a new code; the answer says that the service was meant, and no counter counts it', async () => {
  await using world = await openWorld()
  const phone = await world.pair('a')
  const conversation = await conversationOf(world, /^Connected as/)
  await waitUntil('no code is left', () => pictures(world).length === 0)
  phone.unlink()
  await conversationOf(world, /^The link to the phone has ended/)
  const before = await counters(world)
  assert.deepEqual(await answerTo(world, conversation, 'hello?'), forUs)
  assert.equal(pictures(world).length, 0)
  assert.equal((await world.detail('a')).state, 'logged_out')

  assert.deepEqual(await answerTo(world, conversation, ' QR '), forUs)
  await world.reaches('a', 'qr_pending')
  await waitUntil('a code is shown', () => pictures(world).length > 0)
  const [shown] = pictures(world)
  assert.deepEqual([shown?.conversationId, shown?.messageType], [conversation, 'incoming'])
  assert.deepEqual(await counters(world), before)
  await phone.scan(await world.qrText('a'))
  await world.reaches('a', 'ready')
})

test('its conversation is open where new conversations are pending: no bot answers the service', async () => {
  await using world = await openWorld({ SERVICE_NEW_CONVERSATION_STATUS: 'pending' })
  const phone = await world.pair('a')
  const conversation = await conversationOf(world, /^Connected as/)
  const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  const { conversationId: customers } = await world.arrived(maria.text(phone, 'hello'))
  const statusOf = (wanted: number) => world.helpdesk.see.conversations().find(({ id }) => id === wanted)?.status
  assert.deepEqual([statusOf(conversation), statusOf(customers)], ['open', 'pending'])
})

test('nothing reaches the network, even if the contact has a phone number', async () => {
  await using world = await openWorld()
  const { helpdesk, desk, bob } = world
  await world.pair('a')
  const conversation = await conversationOf(world, /^Connected as/)
  const { body } = await desk.get(`/conversations/${conversation}`)
  const { sender } = body['meta'] as { sender: { id: number } }
  const changed = await desk.send('PUT', `/contacts/${sender.id}`, { phone_number: `+${bob.user.phone}` })
  assert.equal(changed.status, 200, changed.text)
  const before = await counters(world)
  for (const text of ['hello Bob', 'qr']) assert.deepEqual(await answerTo(world, conversation, text), forUs)
  await conversationOf(world, /^A code is given only/)
  assert.deepEqual(await counters(world), before)
  assert.equal((await world.detail('a')).state, 'ready')
  // What comes next would come after anything that was sent.
  await desk.send('PUT', `/contacts/${sender.id}`, { phone_number: null })
  await world.write('for Bob')
  await world.received('for Bob')
  assert.equal(bob.messages.length, 1)
  await helpdesk.settled()
})
