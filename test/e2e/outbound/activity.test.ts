import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'

const ana = { id: 3, name: 'Ana', type: 'user' }

const reads = (world: AgentWorld) =>
  world.bob.receipts.entries.filter(({ type }) => type === 'read').map(({ id }) => id)

test('what an agent has seen is marked read, once; so is what he replies to', async () => {
  await using world = await AgentWorld.open()
  const first = world.bob.text(world.phone, 'one')
  const posted = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === first.id)
  assert.deepEqual(reads(world), [])
  const conversation = {
    id: posted.conversationId,
    inbox_id: 1,
    meta: { sender: { identifier: '5511888880001@s.whatsapp.net' } },
  }
  const seen = (at: number) => ({
    event: 'conversation_updated',
    ...conversation,
    agent_last_seen_at: Math.floor(at / 1000),
  })
  assert.equal((await world.post(seen(Date.now() - 60_000))).status, 200)
  for (let n = 0; n < 3; n++) assert.equal((await world.post(seen(Date.now() + 1000))).status, 200)
  await waitUntil('the first is marked read', () => reads(world).length > 0)
  assert.deepEqual(reads(world), [first.id])
  const second = world.bob.text(world.phone, 'two')
  await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === second.id)
  await world.write('answer', {}, posted.conversationId)
  await waitUntil('the second is marked read', () => reads(world).length === 2)
  await world.helpdesk.settled()
  assert.deepEqual(reads(world), [first.id, second.id])
})

test('a message that the agent sees before its post is noted is marked read too', async () => {
  await using world = await AgentWorld.open()
  const { conversationId: id } = await world.arrived(world.bob.text(world.phone, 'one'))
  await world.drained()
  // The answer to the post is lost, and the search for the message takes a while.
  await world.helpdesk.fault({ kind: 'cut', afterCommit: true, method: 'POST', path: /messages$/, times: 1 })
  await world.helpdesk.fault({ kind: 'slow', ms: 500, method: 'GET', path: /messages/ })
  const second = world.bob.text(world.phone, 'two')
  await world.arrived(second)
  const at = Math.floor(Date.now() / 1000)
  const seen = { event: 'conversation_updated', id, inbox_id: 1, meta: {}, agent_last_seen_at: at }
  assert.equal((await world.post(seen)).status, 200)
  await waitUntil('it is marked read', () => reads(world).includes(second.id), { instead: () => reads(world) })
})

test('the customer sees an agent type, but neither notes nor other customers', async () => {
  await using world = await AgentWorld.open()
  const conversation = world.callback(1, '')['conversation']
  const typing = (event: string, user: object, is_private = false) =>
    world.post({ event, user, conversation, is_private })
  await typing('conversation_typing_on', { id: 9, name: 'Bob' })
  await typing('conversation_typing_on', ana, true)
  assert.equal((await typing('conversation_typing_on', ana)).status, 200)
  const states = () =>
    world.bob.side.entries.filter(({ tag }) => tag === 'chatstate').map(({ content }) => JSON.stringify(content))
  await waitUntil('typing is seen', () => states().length === 1, { instead: states })
  await typing('conversation_typing_off', ana)
  await waitUntil('the end of typing is seen', () => states().length === 2)
  assert.match(states()[0] ?? '', /composing/)
  assert.match(states()[1] ?? '', /paused/)
})

test('a shared inbox: the instance that holds the conversation shows that an agent types', async () => {
  await using world = await AgentWorld.open({ accounts: 2 })
  const [first, second] = world.phones
  assert.ok(first && second)
  const question = world.bob.text(second, 'to the second')
  const asked = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id)
  const meta = { sender: { identifier: '5511888880001@s.whatsapp.net' } }
  const conversation = { id: asked.conversationId, inbox_id: 1, meta }
  await world.post({ event: 'conversation_typing_on', user: ana, conversation, is_private: false })
  const left = (tag: string, { user }: typeof first) =>
    world.network.log.find({ account: user.phone, tag }).filter(({ direction }) => direction === 'in')
  await waitUntil('typing leaves', () => left('chatstate', first).length + left('chatstate', second).length === 1)
  assert.equal(left('chatstate', second).length, 1)
  const online = (phone: typeof first) => left('presence', phone).some(({ node }) => node.attrs['type'] === 'available')
  await waitUntil('the second is online', () => online(second))
  assert.ok(!online(first))
})

test('restricted: a strike, strangers fail at once, chats that exist go on', async () => {
  await using world = await AgentWorld.open()
  const friend = world.bob.text(world.phone, 'hi')
  const known = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === friend.id)
  const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
  const conversation = { id: 70, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  world.phone.user.restrictedUntil = Date.now() + 3_600_000
  world.network.fault({ kind: 'ack_error', code: 463, times: 2 })
  const first = await world.post(world.callback(9001, 'offer', { conversation }))
  assert.equal(first.status, 500)
  assert.match((first.body as { error: string }).error, /restricted/)
  const again = await world.post(world.callback(9002, 'offer again', { conversation }))
  assert.match((again.body as { error: string }).error, /until/)
  await world.write('still there', {}, known.conversationId)
  await world.received('still there')
  assert.equal(eve.messages.length, 0)
  const strikes = 'service_lifecycle_events_total{instance="n0",event="strike",owner_tag=""}'
  await waitUntil('the strike is told', async () => (await world.metric(strikes)) > 0)
  assert.equal(await world.metric(strikes), 1)
  await world.restart()
  assert.equal((await world.post(world.callback(9003, 'offer', { conversation }))).status, 500)
})
