// A destination is a helpdesk inbox by its identifier. Its URL may change, and another Chatwoot may answer at its URL.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { destinationSettings, tenantSettings } from '../../harness/destination.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { perNode } from '../../harness/stranger.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const elsewhere = (url: string) => url.replace('127.0.0.1', 'localhost')

const timesIdentified = ({ requests }: SimHelpdesk) =>
  requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/inboxes/1')).length

for (const engine of drawnEngines(import.meta.url)) {
  test(
    `a new base URL of the same helpdesk inbox keeps its conversations and messages, on ${engine}`,
    { skip: perNode },
    async () => {
      await using world = await AgentWorld.open({ engine })
      const id = await world.write('hello')
      const hello = await world.received('hello')
      const before = await world.arrived(world.bob.text(world.phone, 'first'))

      await world.restart({ DOWNSTREAM_BASE_URL: elsewhere(world.helpdesk.url) })
      const repeated = await world.post(world.callback(id, 'hello'))
      assert.partialDeepStrictEqual(repeated.body, { status: 'ignored', reason: 'duplicate' })
      const reply = await world.arrived(world.bob.text(world.phone, 'second', { quote: hello }))
      assert.equal(reply.contentAttributes['in_reply_to'], id)
      assert.equal(reply.conversationId, before.conversationId)
      assert.deepEqual(world.texts(), ['hello'])
      assert.equal(timesIdentified(world.helpdesk), 2, 'once in each process')
    },
  )

  test(`a failure from before a new base URL is still reported, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    await world.disconnect()
    const id = await world.write('never sent')
    await waitUntil('it waits', async () => (await world.outbox())['pending'] === 1)
    await world.restartService({ DOWNSTREAM_BASE_URL: elsewhere(world.helpdesk.url) })
    await world.service.request('DELETE', '/api/instances/n0')
    const shown = await world.shown(id, ({ status }) => status === 'failed')
    assert.match(String(shown.contentAttributes['external_error']), /deleted/)
  })

  test(`a new Chatwoot at the same URL inherits nothing, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const carla = world.network.person({ phone: '5511777770001', lid: '200000000000002', pushName: 'Carla' })
    await world.arrived(world.bob.text(world.phone, 'first'))
    const oldId = await world.write('to Bob')
    await world.received('to Bob')
    await world.stop()
    const port = Number(new URL(world.helpdesk.url).port)
    await world.helpdesk[Symbol.asyncDispose]()

    await using fresh = await SimHelpdesk.start({ quirks: calm, storage: 'disk', seed: 'another', port })
    // The first request still takes the connection of the test to the old server.
    await fetch(fresh.url).catch(() => undefined)
    const desk = new DeskClient(fresh)
    const conversation = await openChat(desk, '5511777770001')
    assert.equal(conversation, world.conversation, 'the ids of the new Chatwoot begin anew')
    await world.restartService(destinationSettings(fresh))
    await world.allReady()
    const channel = { webhook_url: `${world.service.url}/api/instances/n0/webhook` }
    await desk.patch('/inboxes/1', { channel })

    const second = world.bob.text(world.phone, 'second')
    const arrived = await fresh.waitForMessage(undefined, ({ sourceId }) => sourceId === second.id, 60_000)
    assert.notEqual(arrived.conversationId, conversation)
    const written = await desk.post(`/conversations/${conversation}/messages`, {
      content: 'to Carla',
      message_type: 'outgoing',
    })
    assert.equal(written.body.id, oldId)
    await world.received('to Carla', carla)
    assert.deepEqual(world.texts(), ['to Bob'])
  })

  test(`tenants that name one helpdesk inbox by two URLs share its conversations, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine, accounts: 2 })
    const tenant = { ...tenantSettings(world.helpdesk), webhook_hmac_secret: world.helpdesk.facts.webhook_secret }
    const other = { ...tenant, downstream_base_url: elsewhere(tenant.downstream_base_url) }
    await world.service.request('PUT', '/api/tenants/one', { body: tenant })
    await world.service.request('PUT', '/api/tenants/two', { body: other })
    await world.service.request('PATCH', '/api/instances/n0', { body: { owner_tag: 'one' } })
    await world.service.request('PATCH', '/api/instances/n1', { body: { owner_tag: 'two' } })
    const [, second] = world.phones
    assert.ok(second)
    const { conversationId } = await world.arrived(world.bob.text(second, 'hello'))

    // The helpdesk calls the webhook of n0 only.
    await world.write('hello Bob', {}, conversationId)
    await world.received('hello Bob')
    await waitUntil('n1 has sent it', async () => (await world.outbox('n1'))['sent'] === 1)
    assert.equal((await world.outbox('n0'))['sent'], 0)
  })
}

test('before the helpdesk inbox is identified nothing is posted there, but callbacks are followed', async () => {
  // A callback is answered "queued" after some seconds, so the clock leaps only at the end.
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ clock, helpdesk: { clock } })
  const { helpdesk } = world
  await helpdesk.fault({ kind: 'wrong_token' })
  const waiting = world.bob.text(world.phone, 'hello')
  await waitUntil('the destination is held', async () => (await world.health()).checks.destinations_held.length > 0)
  const [held] = (await world.health()).checks.destinations_held
  assert.equal(held?.destination, `${helpdesk.url}|1|1`)
  const posts = helpdesk.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/messages'))
  assert.deepEqual(posts, [])

  const answer = await world.post(world.callback(700, 'hi Bob'))
  assert.partialDeepStrictEqual(answer.body, { status: 'sent' })
  await world.received('hi Bob')
  await helpdesk.clearFaults()
  await waitUntil('the message that waited arrives', async () => {
    await clock.advance(1000)
    return helpdesk.messages().some(({ sourceId }) => sourceId === waiting.id)
  })
  assert.partialDeepStrictEqual((await world.post(world.callback(700, 'hi Bob'))).body, { reason: 'duplicate' })
})

test('while a new Chatwoot at the same URL refuses the API token, no customer of the old one is answered there', async () => {
  await using world = await AgentWorld.open()
  const carla = world.network.person({ phone: '5511777770001', lid: '200000000000002', pushName: 'Carla' })
  await world.arrived(world.bob.text(world.phone, 'first'))
  const oldId = await world.write('to Bob')
  await world.received('to Bob')
  await world.helpdesk.fault({ kind: 'wrong_token' })
  await world.restartService({})
  await world.allReady()
  /** A callback of the conversation that has the number of Bob's conversation. */
  const callback = (id: number, text: string, phone: string, source_id: string) => {
    const sender = { phone_number: `+${phone}` }
    const conversation = { id: world.conversation, inbox_id: 1, meta: { sender }, contact_inbox: { source_id } }
    return world.callback(id, text, { conversation })
  }
  const begunByAgent = '0b3c1f62-6a0e-4f0a-9a35-b1a9d7f7a4c1'

  const refused = await world.post(callback(801, 'to whom?', '5511777770001', begunByAgent))
  assert.partialDeepStrictEqual([refused.status, refused.body], [422, { reason: 'no_recipient' }])
  assert.match(refused.text, /check the API token/)
  const named = await world.post(callback(802, 'to Carla', '5511777770001', '5511777770001'))
  assert.equal(named.status, 200, named.text)
  await world.received('to Carla', carla)
  const repeated = await world.post(callback(oldId, 'another text', '5511777770001', '5511777770001'))
  assert.equal(repeated.status, 422, 'a message of the old Chatwoot has the same id')

  // The contact of the conversation is Bob: the Chatwoot may be the old one with a wrong token.
  const sent = await world.post(callback(803, 'to Bob again', '5511888880001', begunByAgent))
  assert.equal(sent.status, 200, sent.text)
  const known = await world.post(callback(oldId, 'to Bob', '5511888880001', '5511888880001'))
  assert.partialDeepStrictEqual(known.body, { reason: 'duplicate' })
  await world.received('to Bob again')
  assert.deepEqual(world.texts(), ['to Bob', 'to Bob again'])
})
