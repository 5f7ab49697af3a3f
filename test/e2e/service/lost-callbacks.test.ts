// Chatwoot cannot deliver its callbacks. It marks messages failed by itself, and the service notices that in what it reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const warning = 'the helpdesk cannot deliver its callbacks'
/** Longer than a conversation is taken for open without a look. */
const laterMs = 6000

async function customerWrites(world: AgentWorld, clock: LeapingClock, text: string) {
  await clock.advance(laterMs)
  const message = await world.arrived(world.bob.text(world.phone, text))
  await world.helpdesk.settled()
  return message
}

const callAt = (world: AgentWorld, webhook_url: string) => world.desk.patch('/inboxes/1', { channel: { webhook_url } })
const lostOf = async (world: AgentWorld) => (await world.health()).checks.callbacks_lost

test('a private address that Chatwoot filters: named with advice, warned of once, and over with the first callback', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  await customerWrites(world, clock, 'before')
  assert.equal((await world.health()).status, 'ok')
  world.helpdesk.configure({ allowPrivateNetwork: false })
  const unheard = await customerWrites(world, clock, 'one')
  assert.equal((await world.shown(unheard.id, ({ status }) => status === 'failed')).status, 'failed')
  const requests = world.helpdesk.requests.length
  for (const text of ['two', 'three', 'four']) await customerWrites(world, clock, text)
  const reads = world.helpdesk.requests.slice(requests).map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
  assert.deepEqual(new Set(reads), new Set([`GET ${unheard.conversationId}`, 'POST messages']))
  const { status, checks } = await world.health()
  const [lost] = checks.callbacks_lost
  assert.deepEqual([status, checks.callbacks_lost.length], ['degraded', 1])
  assert.equal(lost?.destination, `${world.helpdesk.facts.url}|1|1`)
  assert.equal(lost.reason, "Hostname '127.0.0.1' has no public ip addresses")
  assert.match(lost.advice, /SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true/)
  assert.equal(world.service.logs.withMessage(warning).length, 1)
  world.helpdesk.configure({ allowPrivateNetwork: true })
  await customerWrites(world, clock, 'five')
  await waitUntil('the callback ends it', async () => (await lostOf(world)).length === 0)
  assert.equal((await world.health()).status, 'ok')
})

test('the very first message of a new set-up fails, and no second one follows: health and log name it with the cure', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock, allowPrivateNetwork: false } })
  await customerWrites(world, clock, 'the only message')
  await waitUntil('the failure is noticed', async () => {
    await clock.advance(laterMs)
    return (await lostOf(world)).length === 1
  })
  assert.match((await lostOf(world))[0]?.advice ?? '', /SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true/)
  assert.equal((await world.health()).status, 'degraded')
  assert.equal(world.service.logs.withMessage(warning).length, 1)
})

test('a webhook URL that is none, and one that no process listens at: an agent’s answer shows it too', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  const { conversationId } = await customerWrites(world, clock, 'question')
  await callAt(world, 'not a url')
  await clock.advance(laterMs)
  await world.write('answer', {}, conversationId)
  await world.helpdesk.settled()
  await customerWrites(world, clock, 'are you there?')
  assert.match((await lostOf(world))[0]?.reason ?? '', /^bad URI/)
  await callAt(world, 'http://127.0.0.1:9/hook')
  for (const text of ['hello?', 'hello!']) await customerWrites(world, clock, text)
  assert.match((await lostOf(world))[0]?.reason ?? '', /^Failed to open TCP connection to 127\.0\.0\.1:9/)
  assert.equal(world.service.logs.withMessage(warning).length, 2)
  await world.listen()
  await customerWrites(world, clock, 'last')
  await waitUntil('the callback ends it', async () => (await lostOf(world)).length === 0)
})

test('a message that the service itself refused or failed is no lost callback', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  const { conversationId } = await customerWrites(world, clock, 'question')
  world.network.fault({ kind: 'ack_error', code: 404 })
  const id = await world.write('refused by WhatsApp', {}, conversationId)
  await world.shown(id, ({ status }) => status === 'failed')
  await customerWrites(world, clock, 'and now?')
  assert.deepEqual(await lostOf(world), [])
  assert.deepEqual(world.service.logs.withMessage(warning), [])
})

test('a new secret of the helpdesk inbox, which the service does not know: the advice leads to the refusal and its cure', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  await customerWrites(world, clock, 'before')
  assert.equal((await world.desk.post('/inboxes/1/reset_secret')).status, 200)
  for (const text of ['one', 'two']) await customerWrites(world, clock, text)
  const [lost] = await lostOf(world)
  assert.equal(lost?.reason, '401 Unauthorized')
  assert.match(lost.advice, /callbacks_refused/)
})
