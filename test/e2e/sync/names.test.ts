// Contacts follow the names of their people, unless an agent or a CRM has named the contact.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { counted, knowAddressBook, named, namesAt, renameByAgent } from './harness/named-contacts.ts'

const phone = '5511988887777'

describe('names of contacts', { concurrency: 3 }, () => {
  test('a contact that we named follows the push name of its person', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await named(world, 'Maria Silva')
    await counted(world, { ok: 1 })
    await world.restart()
    maria.user.pushName = 'M. Silva'
    await world.arrived(maria.text(world.phone, 'three'))
    await named(world, 'M. Silva')
    world.helpdesk.assertNothingRefused()
  })

  test('a contact that has only a number gets the first name of its person', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(world.phone.text(maria, 'the owner writes first'))
    assert.deepEqual(namesAt(world), [`+${phone}`])
    await world.arrived(maria.text(world.phone, 'hello'))
    await named(world, 'Maria')
    await counted(world, { ok: 1 })
  })

  test('a name that an agent wrote stays, also when a new conversation is opened', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const { conversationId } = await world.arrived(maria.text(world.phone, 'one'))
    await renameByAgent(world, 'Maria', 'Mrs Silva (VIP)')
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, { no_contact: 1 })
    const agent = new DeskClient(world.helpdesk)
    await agent.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
    await world.restart()
    maria.user.pushName = 'Mary'
    await world.arrived(maria.text(world.phone, 'three'))
    await counted(world, { no_contact: 2 })
    assert.deepEqual(namesAt(world), ['Mrs Silva (VIP)'])
  })

  test('a contact that an agent or a CRM made keeps its name', async () => {
    await using world = await World.open()
    await new DeskClient(world.helpdesk).post('/contacts', { name: 'Maria', phone_number: `+${phone}` })
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, { no_contact: 1 })
    assert.deepEqual(namesAt(world), ['Maria'])
  })

  test('the address book counts more than the push name; a removed entry gives way to the push name', async () => {
    await using world = await World.open()
    await knowAddressBook(world)
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, 'Aunt Maria')
    await named(world, 'Aunt Maria')
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    assert.deepEqual(namesAt(world), ['Aunt Maria'])
    world.phone.saveContact(maria, undefined)
    await named(world, 'Maria Silva')
    await counted(world, { skip_fullsync: 1, ok: 2 })
  })

  test('the contact keeps its name when no name of its person is left', async () => {
    await using world = await World.open()
    await knowAddressBook(world)
    const maria = world.network.person({ phone, pushName: '' })
    world.phone.saveContact(maria, 'Aunt Maria')
    await counted(world, { skip_fullsync: 1, no_contact: 1 })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, undefined)
    await counted(world, { skip_fullsync: 1, no_contact: 1, skip_empty_name: 1 })
    assert.deepEqual(namesAt(world), ['Aunt Maria'])
  })

  test('a name that the contact has already is not written again', async () => {
    await using world = await World.open()
    await knowAddressBook(world)
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, 'Maria')
    await counted(world, { skip_fullsync: 1, duplicate: 1 })
    assert.ok(!world.helpdesk.requests.some(({ method }) => method === 'PATCH'))
  })

  test('the first read of the address book renames no contact', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, 'Aunt Maria')
    await counted(world, { skip_fullsync: 1 })
    assert.deepEqual(namesAt(world), ['Maria'])
  })

  test('a new link with a full address book asks nothing of the helpdesk', async () => {
    await using world = await World.unlinked()
    const owner = world.network.account({ phone: '5511999990001' })
    for (let at = 0; at < 50; at++) {
      const person = world.network.person({ phone: `55119777700${String(at).padStart(2, '0')}` })
      owner.saveContact(person, `Person ${at}`)
    }
    await world.pair('n0', '5511999990001')
    await counted(world, { skip_fullsync: 50 })
    assert.ok(!world.helpdesk.requests.some(({ path }) => path.includes('/contacts')))
  })

  test('with SERVICE_RETROACTIVE_NAME_UPDATE=false a contact keeps the name that it was created with', async () => {
    await using world = await World.open({ environment: { SERVICE_RETROACTIVE_NAME_UPDATE: 'false' } })
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, { skip_disabled: 1 })
    assert.deepEqual(namesAt(world), ['Maria'])
  })

  test('a name that the helpdesk refused is written with a later message', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    const fault = await world.helpdesk.fault({ kind: 'status', status: 500, method: 'PATCH', path: /\/contacts\/\d+$/ })
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, { ds_error: 1 })
    await world.helpdesk.clearFaults(fault)
    await world.restart()
    await world.arrived(maria.text(world.phone, 'three'))
    await named(world, 'Maria Silva')
  })

  test('a rename whose answer was lost does not make the name a foreign one', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    const path = /\/contacts\/\d+$/
    await world.helpdesk.fault({ kind: 'cut', afterCommit: true, method: 'PATCH', path, times: 1 })
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, { ds_error: 1 })
    assert.deepEqual(namesAt(world), ['Maria Silva'])
    maria.user.pushName = 'M. Silva'
    await world.arrived(maria.text(world.phone, 'three'))
    await named(world, 'M. Silva')
    await counted(world, { ds_error: 1, ok: 1 })
  })

  test('messages do not wait for a name', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    await world.helpdesk.fault({ kind: 'slow', ms: 10_000, method: 'GET', path: /\/contacts\/\d+$/ })
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    assert.deepEqual(namesAt(world), ['Maria'])
  })
})

describe('names in a shared helpdesk inbox, and of groups', { concurrency: 3 }, () => {
  test('two accounts share a contact: the name of an address book stays', async () => {
    await using world = await World.open({ accounts: 2 })
    const [first, second] = world.phones
    assert.ok(first && second)
    await knowAddressBook(world)
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(first, 'to the first'))
    await world.arrived(maria.text(second, 'to the second'))
    first.saveContact(maria, 'Aunt Maria')
    await named(world, 'Aunt Maria')
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(second, 'again to the second'))
    await counted(world, { duplicate: 1 }, 'n1')
    assert.deepEqual(namesAt(world), ['Aunt Maria'])
  })

  test('a name is brought to the contact of the person, and to no other', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const twin = world.network.person({ phone: '5511988887778', pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    await world.arrived(twin.text(world.phone, 'one too'))
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await named(world, 'Maria Silva')
    const shown = world.helpdesk.see.contacts().map(({ name, phoneNumber }) => [phoneNumber, name])
    assert.deepEqual(shown.sort(), [
      [`+${phone}`, 'Maria Silva'],
      ['+5511988887778', 'Maria'],
    ])
  })

  test('a group follows its subject, unless an agent has named it', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const group = world.network.group('Team', maria, [world.phone])
    const other = world.network.group('Others', maria, [world.phone])
    await world.arrived(maria.text(group, 'one'))
    await world.arrived(maria.text(other, 'one'))
    await renameByAgent(world, 'Others', 'Suppliers')
    group.setSubject(maria.user, 'The Team')
    other.setSubject(maria.user, 'The Others')
    await named(world, 'The Team')
    await world.arrived(maria.text(other, 'two'))
    await world.drained()
    assert.deepEqual(namesAt(world).sort(), ['Suppliers', 'The Team'])
  })
})
