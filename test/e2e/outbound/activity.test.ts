import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const ana = { id: 3, name: 'Ana', type: 'user' }

const reads = (stage: OutboundStage) =>
  stage.bob.receipts.entries.filter(({ type }) => type === 'read').map(({ id }) => id)

test('what an agent has seen is marked read, once; so is what he replies to', async () => {
  await using stage = await OutboundStage.open()
  const first = stage.bob.text(stage.phone, 'one')
  const posted = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === first.id, 20_000)
  assert.deepEqual(reads(stage), [])
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
  assert.equal((await stage.post(seen(Date.now() - 60_000))).status, 200)
  for (let n = 0; n < 3; n++) assert.equal((await stage.post(seen(Date.now() + 1000))).status, 200)
  await waitUntil('the first is marked read', () => reads(stage).length > 0)
  assert.deepEqual(reads(stage), [first.id])
  const second = stage.bob.text(stage.phone, 'two')
  await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === second.id, 20_000)
  await stage.write('answer', {}, posted.conversationId)
  await waitUntil('the second is marked read', () => reads(stage).length === 2)
  await stage.helpdesk.settled()
  assert.deepEqual(reads(stage), [first.id, second.id])
})

test('messages in a row, and a question in between: all arrive in order, and the question is marked read', async () => {
  await using stage = await OutboundStage.open()
  const first = stage.bob.text(stage.phone, 'hello')
  const posted = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === first.id, 20_000)
  const say = async (text: string) => {
    await stage.write(text, {}, posted.conversationId)
    await stage.received(text)
  }
  for (const text of ['one', 'two', 'three', 'four']) await say(text)
  const question = stage.bob.text(stage.phone, 'when?')
  await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  await say('five')
  await waitUntil('the question is marked read', () => reads(stage).includes(question.id))
  assert.deepEqual(stage.texts(), ['one', 'two', 'three', 'four', 'five'])
})

test('marking as read can be switched off', async () => {
  await using stage = await OutboundStage.open({ environment: { SERVICE_MARK_AS_READ_OUTGOING: 'false' } })
  const first = stage.bob.text(stage.phone, 'one')
  const posted = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === first.id, 20_000)
  await stage.write('answer', {}, posted.conversationId)
  await stage.received('answer')
  await stage.helpdesk.settled()
  assert.deepEqual(reads(stage), [])
})

test('the customer sees an agent type, but neither notes nor other customers', async () => {
  await using stage = await OutboundStage.open()
  const conversation = stage.callback(1, '')['conversation']
  const typing = (event: string, user: object, is_private = false) =>
    stage.post({ event, user, conversation, is_private })
  await typing('conversation_typing_on', { id: 9, name: 'Bob' })
  await typing('conversation_typing_on', ana, true)
  assert.equal((await typing('conversation_typing_on', ana)).status, 200)
  const states = () =>
    stage.bob.side.entries.filter(({ tag }) => tag === 'chatstate').map(({ content }) => JSON.stringify(content))
  await waitUntil('typing is seen', () => states().length === 1, { instead: states })
  await typing('conversation_typing_off', ana)
  await waitUntil('the end of typing is seen', () => states().length === 2)
  assert.match(states()[0] ?? '', /composing/)
  assert.match(states()[1] ?? '', /paused/)
})

function presences(stage: OutboundStage): (string | undefined)[] {
  return stage.network.log
    .find({ account: stage.phone.user.phone, tag: 'presence' })
    .filter(({ direction }) => direction === 'in')
    .map(({ node }) => node.attrs['type'])
    .filter((type) => type === 'available' || type === 'unavailable')
}

test('the account is online while agents act, and not for longer than 2 minutes after', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  // Leaps of the clock can cost the connection; a login says that it is offline, and what was shown is shown again.
  const shown = () => presences(stage).at(-1)
  await stage.post(stage.callback(1, 'hello', { sender: ana }))
  await waitUntil('it is online', () => shown() === 'available', { instead: shown })
  await clock.advance(60_000)
  // The customer answers: the helpdesk tells again when an agent was last there.
  const conversation = { id: stage.conversation, inbox_id: 1, agent_last_seen_at: Math.floor(clock.now() / 1000) - 60 }
  await stage.post({ event: 'conversation_updated', ...conversation })
  await clock.advance(59_000)
  await waitUntil('it is still online', () => shown() === 'available', { instead: shown })
  const isOffline = async () => {
    await clock.advance(2000)
    return shown() === 'unavailable'
  }
  await waitUntil('it is offline again', isOffline, { instead: shown })
})

test('neither customers nor greetings make the account go online', async () => {
  await using stage = await OutboundStage.open()
  const before = presences(stage).length
  const longAgo = Math.floor(Date.now() / 1000) - 3600
  const updated = { event: 'conversation_updated', id: stage.conversation, inbox_id: 1, agent_last_seen_at: longAgo }
  assert.equal((await stage.post(updated)).status, 200)
  const greeting = stage.callback(1, 'we are closed', { message_type: 'template', sender: null })
  assert.equal((await stage.post(greeting)).status, 200)
  await stage.post(stage.callback(2, 'hello', { sender: ana }))
  await waitUntil('an agent makes it go online', () => presences(stage).length > before)
  const [online] = stage.network.log.find({ account: stage.phone.user.phone, tag: 'presence' }).slice(-1)
  const sent = stage.network.log
    .find({ account: stage.phone.user.phone, tag: 'message' })
    .filter(({ direction }) => direction === 'in')
  assert.deepEqual([presences(stage).slice(before), sent.length], [['available'], 2])
  assert.ok(online && sent[1] && online.at >= sent[1].at, 'not before the agent wrote')
})

test('a shared inbox: the instance that holds the conversation answers in it', async () => {
  await using stage = await OutboundStage.open({ accounts: 2 })
  const [, second] = stage.phones
  assert.ok(second)
  const question = stage.bob.text(second, 'to the second')
  const asked = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  await stage.write('from the second', {}, asked.conversationId)
  const { from } = await stage.received('from the second')
  assert.equal(from.phone, second.user.phone)
  // The customer has it a moment before the network says so.
  await waitUntil('it is counted', async () => (await stage.outbox('n1'))['sent'] === 1)
  assert.equal((await stage.outbox('n0'))['sent'], 0)
})

test('a shared inbox: the instance that holds the conversation shows that an agent types', async () => {
  await using stage = await OutboundStage.open({ accounts: 2 })
  const [first, second] = stage.phones
  assert.ok(first && second)
  const question = stage.bob.text(second, 'to the second')
  const asked = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === question.id, 20_000)
  const meta = { sender: { identifier: '5511888880001@s.whatsapp.net' } }
  const conversation = { id: asked.conversationId, inbox_id: 1, meta }
  await stage.post({ event: 'conversation_typing_on', user: ana, conversation, is_private: false })
  const left = (tag: string, { user }: typeof first) =>
    stage.network.log.find({ account: user.phone, tag }).filter(({ direction }) => direction === 'in')
  await waitUntil('typing leaves', () => left('chatstate', first).length + left('chatstate', second).length === 1)
  assert.equal(left('chatstate', second).length, 1)
  const online = (phone: typeof first) => left('presence', phone).some(({ node }) => node.attrs['type'] === 'available')
  await waitUntil('the second is online', () => online(second))
  assert.ok(!online(first))
})

test('restricted: a strike, strangers fail at once, chats that exist go on', async () => {
  await using stage = await OutboundStage.open()
  const friend = stage.bob.text(stage.phone, 'hi')
  const known = await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === friend.id, 20_000)
  const eve = stage.network.person({ phone: '5511888880002', pushName: 'Eve' })
  const conversation = { id: 70, inbox_id: 1, meta: { sender: { phone_number: `+${eve.user.phone}` } } }
  stage.network.fault({ kind: 'ack_error', code: 463 })
  const first = await stage.post(stage.callback(9001, 'offer', { conversation }))
  assert.equal(first.status, 500)
  assert.match((first.body as { error: string }).error, /restricted/)
  const again = await stage.post(stage.callback(9002, 'offer again', { conversation }))
  assert.match((again.body as { error: string }).error, /until/)
  await stage.write('still there', {}, known.conversationId)
  await stage.received('still there')
  assert.equal(eve.messages.length, 0)
  const strikes = 'service_lifecycle_events_total{instance="n0",event="strike",owner_tag=""}'
  await waitUntil('the strike is told', async () => (await stage.metric(strikes)) > 0)
  assert.equal(await stage.metric(strikes), 1)
  await stage.restart()
  assert.equal((await stage.post(stage.callback(9003, 'offer', { conversation }))).status, 500)
})
