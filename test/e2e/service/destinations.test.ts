// A destination is a helpdesk inbox by its identifier: whatever its address is, and whatever else answers there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { destinationSettings, tenantSettings } from '../../harness/destination.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const elsewhere = (url: string) => url.replace('127.0.0.1', 'localhost')

for (const engine of engines) {
  test(`a new base URL of the same helpdesk inbox keeps its conversations and messages, on ${engine}`, async () => {
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
  })

  test(`a new Chatwoot at the same address inherits nothing, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const carla = world.network.person({ phone: '5511777770001', lid: '200000000000002', pushName: 'Carla' })
    const oldId = await world.write('to Bob')
    await world.received('to Bob')
    await world.arrived(world.bob.text(world.phone, 'first'))
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
    const channel = { webhook_url: `${world.service.app.url}/api/instances/n0/webhook` }
    await desk.patch('/inboxes/1', { channel })

    const written = await desk.post(`/conversations/${conversation}/messages`, {
      content: 'to Carla',
      message_type: 'outgoing',
    })
    assert.equal(written.body.id, oldId)
    await world.received('to Carla', carla)
    const second = world.bob.text(world.phone, 'second')
    const arrived = await fresh.waitForMessage(undefined, ({ sourceId }) => sourceId === second.id, 60_000)
    assert.notEqual(arrived.conversationId, conversation)
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
