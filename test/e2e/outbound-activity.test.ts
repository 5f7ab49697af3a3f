import { OutboundStage } from '../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'

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
  const ana = { id: 3, name: 'Ana', type: 'user' }
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

test('the account is online while agents act, and not for longer than 2 minutes after', async () => {
  const clock = new ManualClock(Date.now())
  await using stage = await OutboundStage.open({ clock, helpdesk: { clock } })
  const shown = () =>
    stage.network.log
      .find({ account: stage.phone.user.phone, tag: 'presence' })
      .filter(({ direction }) => direction === 'in')
      .map(({ node }) => node.attrs['type'])
      .filter((type) => type === 'available' || type === 'unavailable')
  const before = shown().length
  await stage.post(stage.callback(1, 'hello'))
  await waitUntil('it is online', () => shown().slice(before).includes('available'), { instead: shown })
  await clock.advance(119_000)
  assert.ok(!shown().slice(before).includes('unavailable'))
  await clock.advance(2000)
  await waitUntil('it is offline again', () => shown().slice(before).includes('unavailable'), { instead: shown })
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
  await waitUntil('it is settled', async () => (await stage.outbox('n1'))['sent'] === 1)
  assert.equal((await stage.outbox('n0'))['sent'], 0)
})

test('risk: a burst to many people raises the alerts once, and it is told', async () => {
  await using stage = await OutboundStage.open()
  const people = Array.from({ length: 21 }, (_, n) => stage.network.person({ phone: `55118777${10_000 + n}` }))
  for (const [n, { user }] of people.entries()) {
    const conversation = { id: 100 + n, inbox_id: 1, meta: { sender: { phone_number: `+${user.phone}` } } }
    await stage.post(stage.callback(100 + n, 'offer', { conversation }))
  }
  const risk = (await stage.service.get('/api/instances/n0/ban-risk')).body as Record<string, unknown>
  assert.deepEqual(risk['alerts'], ['burst_outreach'])
  assert.deepEqual(
    [risk['diversity_unique_jids'], risk['level'], risk['velocity_window_ns']],
    [21, 'moderate', 60_000_000_000],
  )
  const told = 'service_lifecycle_events_total{instance="n0",event="ban_risk",owner_tag=""}'
  await waitUntil('it is told', async () => (await stage.metric(told)) > 0)
  assert.equal(await stage.metric(told), 1)
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
