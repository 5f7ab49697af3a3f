// Contacts follow the names of their people, unless an agent or a CRM has named the contact.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const phone = '5511988887777'

function namesAt({ helpdesk }: World): string[] {
  return helpdesk.see.contacts().map(({ name }) => name)
}

async function named(world: World, name: string): Promise<void> {
  await waitUntil(`a contact is called ${name}`, () => namesAt(world).includes(name), { instead: () => namesAt(world) })
}

/** The account has read the address book before: its next change is not the first sync. */
async function knowsAddressBook(world: World): Promise<void> {
  const other = world.network.person({ phone: '5511900009999', pushName: 'Other' })
  world.phone.saveContact(other, 'Somebody Else')
  await counted(world, 'skip_fullsync', 1)
}

async function counted(world: World, result: string, times: number): Promise<void> {
  const line = `service_realtime_events_total{feature="retroactive_name",result="${result}",instance="n0"}`
  const seen = async () => {
    const { text } = await world.service.get('/metrics')
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(line))
        ?.slice(line.length) ?? 0,
    )
  }
  let last = 0
  await waitUntil(`${times} names count as ${result}`, async () => (last = await seen()) === times, {
    instead: () => last,
  })
}

describe('names of contacts', { concurrency: 3 }, () => {
  test('a contact that we named follows the push name of its person', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await named(world, 'Maria Silva')
    await counted(world, 'ok', 1)
  })

  test('a name that an agent wrote stays', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const { sender } = await world.arrived(maria.text(world.phone, 'one'))
    await new DeskClient(world.helpdesk).patch(`/contacts/${sender?.id}`, { name: 'Mrs Silva (VIP)' })
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    await counted(world, 'no_contact', 1)
    assert.deepEqual(namesAt(world), ['Mrs Silva (VIP)'])
  })

  test('the address book counts more than the push name; a removed entry gives way to the push name', async () => {
    await using world = await World.open()
    await knowsAddressBook(world)
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, 'Aunt Maria')
    await named(world, 'Aunt Maria')
    maria.user.pushName = 'Maria Silva'
    await world.arrived(maria.text(world.phone, 'two'))
    assert.deepEqual(namesAt(world), ['Aunt Maria'])
    world.phone.saveContact(maria, undefined)
    await named(world, 'Maria Silva')
    await counted(world, 'ok', 2)
  })
})
