// Which requests to the helpdesk a message costs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { importContacts, saveAll } from '../contacts/harness/contact-jobs.ts'

const phone = '5511988887777'
const lid = '99887766554433'

/** The service has asked the helpdesk which inbox it is, which it does once after its start. */
async function openWorld(options: WorldOptions = {}): Promise<World> {
  const world = await World.open(options)
  const other = world.network.person({ phone: '4915112345678', pushName: 'Otto' })
  await world.arrived(other.text(world.phone, 'the first of all'))
  return world
}

/** The requests of the service to the helpdesk from now until the message is there, without the numbers of the rows. */
async function costOf(world: World, send: () => { id: string }): Promise<string[]> {
  await world.drained()
  const before = world.helpdesk.requests.length
  await world.arrived(send())
  await world.drained()
  return world.helpdesk.requests
    .slice(before)
    .map(({ method, path }) => `${method} ${path.replace(/^\/api\/v1\/accounts\/1/, '').replace(/\?.*/, '')}`)
    .map((each) => each.replace(/\/\d+/g, '/:id'))
}

const post = 'POST /conversations/:id/messages'
const identify = 'GET /inboxes/:id'
const look = 'GET /conversations/:id'
const filter = 'POST /contacts/filter'
const byAddress = 'POST /contact_inboxes/filter'
const createContact = 'POST /contacts'
const giveAddress = 'POST /contacts/:id/contact_inboxes'
const list = 'GET /contacts/:id/conversations'
const createConversation = 'POST /conversations'

onEveryVersion('the first message of an unknown person costs five requests, a later one costs one', async (version) => {
  await using world = await openWorld({ helpdesk: { version } })
  const maria = world.network.person({ phone, lid, pushName: 'Maria' })
  const first = await costOf(world, () => maria.text(world.phone, 'hello'))
  assert.deepEqual(first, [filter, byAddress, createContact, createConversation, post])
  assert.deepEqual(await costOf(world, () => maria.text(world.phone, 'again')), [post])
  world.helpdesk.assertNothingRefused()
})

test('the first message of a person without an anonymous id, and of a group, costs four requests', async () => {
  await using world = await openWorld()
  const maria = world.network.person({ phone, pushName: 'Maria', hidesLid: true })
  const expected = [filter, createContact, createConversation, post]
  assert.deepEqual(await costOf(world, () => maria.text(world.phone, 'hello', { addressing: 'pn' })), expected)
  const group = world.network.group('Team', maria, [world.phone])
  assert.deepEqual(await costOf(world, () => maria.text(group, 'hello all')), expected)
  world.helpdesk.assertNothingRefused()
})

test('a message after a pause and the first one after a restart cost a look at the conversation more', async () => {
  const clock = new LeapingClock()
  await using world = await openWorld({ clock })
  const maria = world.network.person({ phone, lid, pushName: 'Maria' })
  await world.arrived(maria.text(world.phone, 'hello'))
  await clock.advance(5000)
  assert.deepEqual(await costOf(world, () => maria.text(world.phone, 'after a pause')), [look, post])
  await world.restart()
  const restarted = await costOf(world, () => maria.text(world.phone, 'after a restart'))
  assert.deepEqual(restarted, [identify, look, post])
})

test('the first message of a contact that agents or other programs have made costs four requests', async () => {
  await using world = await openWorld()
  const agent = new DeskClient(world.helpdesk, world.helpdesk.agent.token)
  const [elsewhere, here] = [
    world.network.person({ phone, lid, pushName: 'Maria' }),
    world.network.person({ phone: '5511966665555', pushName: 'Carlos' }),
  ]
  await agent.post('/contacts', { name: 'Imported', phone_number: `+${phone}` })
  const address = { inbox_id: 1, source_id: '5511966665555' }
  await agent.post('/contacts', { name: 'In the inbox', phone_number: '+5511966665555', ...address })
  const taken = await costOf(world, () => elsewhere.text(world.phone, 'hello'))
  assert.deepEqual(taken, [filter, giveAddress, createConversation, post])
  const found = await costOf(world, () => here.text(world.phone, 'hello'))
  assert.deepEqual(found, [filter, list, createConversation, post])
  assert.equal(world.helpdesk.see.contacts().length, 3)
  world.helpdesk.assertNothingRefused()
})

test('the first message of a contact that the service has imported costs four requests', async () => {
  await using world = await openWorld()
  const maria = world.network.person({ phone, lid, pushName: 'Maria' })
  await saveAll(world, [[maria, 'Aunt Maria']])
  await importContacts(world, { only: 'saved', create: true })
  const first = await costOf(world, () => maria.text(world.phone, 'hello'))
  assert.deepEqual(first, [byAddress, list, createConversation, post])
  assert.equal(world.helpdesk.see.contacts().length, 2)
  world.helpdesk.assertNothingRefused()
})

test('a message after the conversation was resolved costs five requests', async () => {
  const clock = new LeapingClock()
  await using world = await openWorld({ clock })
  const maria = world.network.person({ phone, lid, pushName: 'Maria' })
  const { conversationId } = await world.arrived(maria.text(world.phone, 'hello'))
  const agent = new DeskClient(world.helpdesk, world.helpdesk.agent.token)
  await agent.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
  await clock.advance(5000)
  const next = await costOf(world, () => maria.text(world.phone, 'another question'))
  assert.deepEqual(next, [look, byAddress, list, createConversation, post])
  assert.equal(world.helpdesk.see.conversations().length, 3)
})
