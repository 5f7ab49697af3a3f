// Checks the stand-alone simulator: its line of JSON, its network and helpdesk, one control API and one clock.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimWorld } from '../../sim/sim-world.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { DeskClient, openChat } from '../sim-helpdesk/harness/desk-client.ts'
import { WebhookCatcher } from '../sim-helpdesk/harness/webhook-catcher.ts'
import { memoryAuth } from './harness/memory-auth.ts'
import './harness/quiet.ts'
import { SimProcess, type Json } from './harness/sim-process.ts'
import { TestClient } from './harness/test-client.ts'

const deskOf = ({ started: { helpdesk } }: SimProcess, token = helpdesk.api_token): DeskClient =>
  new DeskClient({ url: helpdesk.url, facts: helpdesk }, token)

test('the printed facts lead to a helpdesk that takes a webhook address and signs its webhooks', async () => {
  await using sim = await SimProcess.start()
  await using catcher = await WebhookCatcher.start()
  const { helpdesk, agent_view: agentView } = sim.started
  assert.deepEqual(Object.keys(helpdesk), ['url', 'api_token', 'account_id', 'inbox_id', 'webhook_secret'])
  const desk = deskOf(sim)
  const inbox = `/inboxes/${helpdesk.inbox_id}`
  assert.equal((await desk.patch(inbox, { channel: { webhook_url: catcher.url } })).status, 200)
  assert.equal((await desk.get(inbox)).body['webhook_url'], catcher.url)
  const chat = await openChat(desk, '5511888880001')
  const agent = deskOf(sim, new URLSearchParams(new URL(agentView).hash.slice(1)).get('token') ?? '')
  await agent.post(`/conversations/${chat}/messages`, { content: 'good morning' })
  const { raw, headers, body } = await catcher.waitFor('message_created')
  assert.equal(body['content'], 'good morning')
  assert.deepEqual((body['sender'] as Json)['name'], 'Alex')
  const signed = `${String(headers['x-chatwoot-timestamp'])}.${raw}`
  const signature = createHmac('sha256', helpdesk.webhook_secret).update(signed).digest('hex')
  assert.equal(headers['x-chatwoot-signature'], `sha256=${signature}`)
})

test('one control API has the faults and resets of the helpdesk and the network', async () => {
  await using sim = await SimProcess.start()
  const desk = deskOf(sim)
  await openChat(desk, '5511888880001')
  await sim.call('POST', '/helpdesk/faults', { kind: 'status', status: 429, times: 1 })
  assert.equal((await desk.get('/contacts')).status, 429)
  assert.equal((await desk.get('/contacts')).status, 200)
  await sim.call('POST', '/helpdesk/faults', { kind: 'refused' })
  await assert.rejects(desk.get('/contacts'))
  assert.equal((await sim.call('POST', '/helpdesk/faults', { kind: 'meteor' })).status, 400)
  const { json } = await sim.call('POST', '/helpdesk/reset')
  assert.deepEqual(json, { ...sim.started.helpdesk, agent_view: sim.started.agent_view })
  assert.deepEqual((await desk.get('/contacts')).body['payload'], [])
})

test('one control call moves the time of the network and the helpdesk', async () => {
  await using sim = await SimProcess.start()
  const desk = deskOf(sim)
  const { credentials } = await sim.post('/accounts', { phone: '5511999990001', linked: true })
  await sim.post('/people', { phone: '5511888880001' })
  const auth = memoryAuth(credentials as Parameters<typeof memoryAuth>[0])
  await using client = await TestClient.online(sim.network, auth)
  const hour = 3_600_000
  const { now } = await sim.post('/clock', { advance_ms: hour })
  const ahead = (seconds: number): number => seconds * 1000 - Date.now()
  assert.ok(Math.abs(Date.parse(String(now)) - Date.now() - hour) < 60_000)
  await sim.post('/people/5511888880001/send', { to: '5511999990001', text: 'later' })
  assert.ok(ahead(Number((await client.textMessage('later')).messageTimestamp)) > hour - 60_000)
  const chat = await openChat(desk, '5511888880001')
  const { body } = await desk.post(`/conversations/${chat}/messages`, { content: 'later too' })
  assert.ok(ahead(Number(body['created_at'])) > hour - 60_000)
})

test('inside a test the network and the helpdesk use the given clock', async () => {
  const clock = new ManualClock()
  await using world = await SimWorld.start({ clock, helpdesk: { quirks: calm } })
  const { network, helpdesk } = world
  const phone = network.account({ phone: '5511999990001' })
  const bob = network.person({ phone: '5511888880001' })
  await using client = await TestClient.linked(network, phone)
  await clock.advance(3_600_000)
  const now = Math.floor(clock.now() / 1000)
  bob.text(phone, 'on time')
  assert.equal((await client.textMessage('on time')).messageTimestamp, now)
  const desk = new DeskClient(helpdesk)
  const chat = await openChat(desk, '5511888880001')
  const { body } = await desk.post(`/conversations/${chat}/messages`, { content: 'on time too' })
  assert.equal(body['created_at'], now)
  await assert.rejects(world.advance(1), /was given a clock/)
})

test('the values in the README are those of the default seed', async () => {
  await using sim = await SimProcess.start('causeway')
  const { network, helpdesk } = sim.started
  const readme = await readFile('README.md', 'utf8')
  const copied = (name: string): string | undefined => new RegExp(`export ${name}=(.*)`).exec(readme)?.[1]
  assert.equal(copied('SERVICE_NETWORK_ROOT_KEY'), network.root_key)
  assert.equal(copied('DOWNSTREAM_API_TOKEN'), helpdesk.api_token)
})

test('the process plays another version of Chatwoot, and refuses one that it does not know', async () => {
  await using sim = await SimProcess.start('control', ['--helpdesk-version', '4.3'])
  assert.equal((await deskOf(sim).get('//api')).body['version'], '4.3.0')
  assert.equal(sim.started.helpdesk.webhook_secret, '')
  const { status, stderr } = spawnSync(process.execPath, ['sim/cli.ts', '--helpdesk-version', '4.1'])
  assert.equal(status, 1)
  assert.match(stderr.toString(), /--helpdesk-version must be one of 3\.3, 3\.4, 4\.2, 4\.3, 4\.7, 4\.12, 4\.14/)
})
