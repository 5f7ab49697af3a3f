// One person is one contact, with each of their addresses, and also when an agent made the contact first.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { isDeepStrictEqual } from 'node:util'
import { FastClock } from '../../harness/fast-clock.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const phone = '5511988887777'
const lid = '99887766554433'

describe('one person is one contact', () => {
  test('known by the anonymous id first, by the phone later', async () => {
    await using world = await World.open()
    const { network, helpdesk } = world
    const maria = network.person({ phone: '5511988887777', lid: '99887766554433', pushName: 'Maria', hidesPhone: true })
    const first = await world.arrived(maria.text(world.phone, 'who am I', { addressing: 'lid' }))
    const second = await world.arrived(maria.text(world.phone, 'it is me', { addressing: 'pn' }))
    assert.equal(second.conversationId, first.conversationId)
    await world.drained()
    const contacts = helpdesk.see.contacts()
    assert.equal(contacts.length, 1)
    assert.equal(contacts[0]?.phoneNumber, '+5511988887777')
    helpdesk.assertNothingRefused()
  })

  test('a contact that an agent made with the old spelling of a Brazilian number is found', async () => {
    await using world = await World.open()
    const { facts } = world.helpdesk
    const made = await fetch(`${facts.url}/api/v1/accounts/1/contacts`, {
      method: 'POST',
      headers: { 'Api-Access-Token': facts.api_token, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Maria at home', phone_number: '+551188887777' }),
    })
    assert.equal(made.status, 200)
    const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
    const message = await world.arrived(maria.text(world.phone, 'hello'))
    assert.equal(message.sender?.name, 'Maria at home')
    assert.equal(world.helpdesk.see.contacts().length, 1)
  })

  test('a person with a new phone number keeps the contact, which shows the new number', async () => {
    const clock = new LeapingClock()
    await using world = await World.open({ clock })
    const { network, helpdesk } = world
    const maria = network.person({ phone, lid, pushName: 'Maria' })
    const first = await world.arrived(maria.text(world.phone, 'from the old number'))
    network.directory.changePhone(maria.user, '5511988887778')
    const second = await world.arrived(maria.text(world.phone, 'from the new number'))
    assert.equal(second.conversationId, first.conversationId)
    const shown = () => helpdesk.see.contacts().map(({ phoneNumber, identifier }) => [phoneNumber, identifier])
    const renumbered = [['+5511988887778', '5511988887778@s.whatsapp.net']]
    await waitUntil('the contact shows the new number', () => isDeepStrictEqual(shown(), renumbered), {
      instead: shown,
    })
    await resolveAll(world)
    await clock.advance(5000)
    const third = await world.arrived(maria.text(world.phone, 'in another conversation'))
    assert.notEqual(third.conversationId, first.conversationId)
    assert.equal(third.sender?.id, first.sender?.id)
    assert.deepEqual(shown(), renumbered)
    helpdesk.assertNothingRefused()
  })

  test('a person to whom the owner writes first is named by number, and by name after the first answer', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
    const echo = await world.arrived(world.phone.text(maria, 'hello Maria'))
    assert.equal(world.helpdesk.see.contacts()[0]?.name, '+5511988887777')
    const answer = await world.arrived(maria.text(world.phone, 'hello owner'))
    assert.equal(answer.conversationId, echo.conversationId)
    await waitUntil('the contact has a name', () => world.helpdesk.see.contacts()[0]?.name === 'Maria')
  })
})

async function resolveAll({ helpdesk }: World): Promise<void> {
  const agent = new DeskClient(helpdesk)
  for (const { id } of helpdesk.see.conversations()) {
    await agent.post(`/conversations/${id}/toggle_status`, { status: 'resolved' })
  }
}

/** An agent creates a contact at the helpdesk. Returns the id of the contact. */
async function agentMakes(world: World, fields: object): Promise<number> {
  const { facts } = world.helpdesk
  const answer = await fetch(`${facts.url}/api/v1/accounts/1/contacts`, {
    method: 'POST',
    headers: { 'Api-Access-Token': facts.api_token, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })
  const { payload } = (await answer.json()) as { payload: { contact: { id: number } } }
  return payload.contact.id
}

function contactsOf({ helpdesk }: World) {
  return helpdesk.see.contacts().map(({ name, phoneNumber, identifier, addresses }) => {
    return { name, phoneNumber, identifier, addresses: addresses.map(({ sourceId }) => sourceId).toSorted() }
  })
}

describe('two contacts that turn out to be one person', () => {
  const stranger = (world: World): SimPerson =>
    world.network.person({ phone, lid, pushName: 'Maria', hidesPhone: true, hidesLid: true })

  /** The network tells both addresses of this person from now on. */
  const reveal = ({ user }: SimPerson) => {
    Object.assign(user, { hidesPhone: false, hidesLid: false })
  }

  test('ours, by anonymous id and by phone: merged, both conversations stay, and one goes on', async () => {
    // Under two names it has two sessions: the first messages come twice, and what could not be opened waits 10 s.
    await using world = await World.open({ clock: new FastClock(20) })
    const maria = stranger(world)
    const byLid = await world.arrived(maria.text(world.phone, 'by id', { addressing: 'lid' }))
    const byPhone = await world.arrived(maria.text(world.phone, 'by phone', { addressing: 'pn' }))
    await world.drained()
    assert.notEqual(byPhone.conversationId, byLid.conversationId)
    assert.deepEqual(contactsOf(world), [
      { name: 'Maria', phoneNumber: null, identifier: `${lid}@lid`, addresses: [`lid-${lid}`] },
      { name: 'Maria', phoneNumber: `+${phone}`, identifier: `${phone}@s.whatsapp.net`, addresses: [phone] },
    ])
    reveal(maria)
    const next = await world.arrived(maria.text(world.phone, 'by both', { addressing: 'lid' }))
    const last = await world.arrived(maria.text(world.phone, 'again', { addressing: 'pn' }))
    await world.drained()
    assert.deepEqual([next.conversationId, last.conversationId], [byPhone.conversationId, byPhone.conversationId])
    assert.deepEqual(contactsOf(world), [
      {
        name: 'Maria',
        phoneNumber: `+${phone}`,
        identifier: `${phone}@s.whatsapp.net`,
        addresses: [phone, `lid-${lid}`].toSorted(),
      },
    ])
    const [contact] = world.helpdesk.see.contacts()
    assert.ok(world.helpdesk.see.conversations().every(({ contactId }) => contactId === contact?.id))
    assert.equal(world.helpdesk.see.conversations().length, 2)
    world.helpdesk.assertNothingRefused()
  })

  test("an agent's, with the phone: ours is merged into it, and its conversation goes on", async () => {
    await using world = await World.open()
    const theirs = await agentMakes(world, { name: 'Maria at home', phone_number: `+${phone}` })
    const maria = stranger(world)
    const first = await world.arrived(maria.text(world.phone, 'by id', { addressing: 'lid' }))
    await world.drained()
    assert.equal(world.helpdesk.see.contacts().length, 2)
    reveal(maria)
    const next = await world.arrived(maria.text(world.phone, 'by both', { addressing: 'lid' }))
    await world.drained()
    assert.equal(next.conversationId, first.conversationId)
    assert.equal(next.sender?.id, theirs)
    const [contact, ...others] = contactsOf(world)
    assert.deepEqual(others, [])
    assert.deepEqual([contact?.name, contact?.phoneNumber], ['Maria at home', `+${phone}`])
    world.helpdesk.assertNothingRefused()
  })

  test('an agent has made the one with the anonymous id: it is not merged', async () => {
    await using world = await World.open()
    const ofId = await agentMakes(world, { name: 'Somebody', identifier: `${lid}@lid` })
    const ofPhone = await agentMakes(world, { name: 'Maria at home', phone_number: `+${phone}` })
    const maria = stranger(world)
    const first = await world.arrived(maria.text(world.phone, 'by id', { addressing: 'lid' }))
    assert.equal(first.sender?.id, ofId)
    await world.drained()
    reveal(maria)
    await world.arrived(maria.text(world.phone, 'by both', { addressing: 'lid' }))
    await world.drained()
    const ids = world.helpdesk.see.contacts().map(({ id }) => id)
    assert.deepEqual(ids, [ofId, ofPhone])
    assert.equal((await world.health()).status, 'ok')
  })

  test('ours is used in another inbox too: it is not merged', async () => {
    await using world = await World.open()
    const { helpdesk } = world
    const second = helpdesk.world.addInbox({ name: 'second' })
    await agentMakes(world, { name: 'Maria at home', phone_number: `+${phone}` })
    const maria = stranger(world)
    const first = await world.arrived(maria.text(world.phone, 'by id', { addressing: 'lid' }))
    const { facts } = helpdesk
    await fetch(`${facts.url}/api/v1/accounts/1/contacts/${first.sender?.id ?? 0}/contact_inboxes`, {
      method: 'POST',
      headers: { 'Api-Access-Token': facts.api_token, 'content-type': 'application/json' },
      body: JSON.stringify({ inbox_id: second.id, source_id: 'elsewhere' }),
    })
    await world.drained()
    reveal(maria)
    await world.arrived(maria.text(world.phone, 'by both', { addressing: 'lid' }))
    await world.drained()
    assert.equal(helpdesk.see.contacts().length, 2)
  })
})
