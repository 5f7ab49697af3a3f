// An operator brings all names to the helpdesk at once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { ChatwootTables } from '../../harness/chatwoot-tables.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { World } from '../../harness/world.ts'
import { counted, namesAt, renameByAgent } from './harness/named-contacts.ts'

const phone = '5511988887777'
const path = '/api/instances/n0/retroactive/reconcile'

async function reconcile(world: World): Promise<unknown> {
  const { status, body } = await world.service.request('POST', path)
  assert.equal(status, 200)
  return body
}

describe('reconciliation of names', { concurrency: 3 }, () => {
  test('brings the names of the first address book to the contacts, and leaves those of agents', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const bob = world.network.person({ phone: '5511966665555', pushName: 'Bob' })
    const eve = world.network.person({ phone: '5511955554444', pushName: 'Eve' })
    for (const person of [maria, bob, eve]) await world.arrived(person.text(world.phone, 'hello'))
    await renameByAgent(world, 'Bob', 'Robert (supplier)')
    world.phone.saveContact(world.network.person({ phone: '5511900009999' }), 'Without A Contact')
    world.phone.saveContact(maria, 'Aunt Maria')
    world.phone.saveContact(bob, 'Uncle Bob')
    await counted(world, { skip_fullsync: 3 })
    const answers = await Promise.all([reconcile(world), reconcile(world)])
    assert.deepEqual(answers[0], answers[1], 'two callers share a run')
    assert.deepEqual(namesAt(world).sort(), ['Aunt Maria', 'Eve', 'Robert (supplier)'])
    assert.deepEqual(await reconcile(world), { instance: 'n0', scanned: 3, renamed: 0, rewritten: 0, skipped: 3 })
  })

  test('also rewrites headers', { skip: withoutPostgres }, async () => {
    await using tables = await ChatwootTables.open()
    await using world = await World.open({ environment: { DOWNSTREAM_DB_URL: tables.url } })
    const maria = world.network.person({ phone, pushName: 'Maria' })
    const group = world.network.group('Team', maria, [world.phone])
    await world.arrived(maria.text(group, 'one'))
    await world.arrived(maria.text(world.phone, 'two'))
    await world.drained()
    await tables.follow(world.helpdesk)
    world.phone.saveContact(maria, 'Aunt Maria')
    await counted(world, { skip_fullsync: 1 })
    assert.deepEqual(await reconcile(world), { instance: 'n0', scanned: 1, renamed: 1, rewritten: 1, skipped: 0 })
    assert.deepEqual(await tables.contents(), ['`+5511988887777 · Aunt Maria`\n\none', 'two'])
    assert.deepEqual(await reconcile(world), { instance: 'n0', scanned: 1, renamed: 0, rewritten: 0, skipped: 1 })
    await counted(world, { skip_fullsync: 1, ok: 1, duplicate: 1 })
  })

  test('says what keeps it from working', async () => {
    await using world = await World.open()
    const unknown = await world.service.request('POST', '/api/instances/nobody/retroactive/reconcile')
    assertRefused(unknown, 'SERVICE_INSTANCE_NOT_FOUND')
    const maria = world.network.person({ phone, pushName: 'Maria' })
    await world.arrived(maria.text(world.phone, 'one'))
    world.phone.saveContact(maria, 'Aunt Maria')
    await counted(world, { skip_fullsync: 1 })
    await world.helpdesk.fault({ kind: 'refused' })
    assertRefused(await world.service.request('POST', path), 'SERVICE_HELPDESK_UNREACHABLE')
    await world.restart({ SERVICE_RETROACTIVE_NAME_UPDATE: 'false' })
    assertRefused(await world.service.request('POST', path), 'SERVICE_NAMES_DISABLED')
    await world.restart({ DOWNSTREAM_BASE_URL: '' })
    assertRefused(await world.service.request('POST', path), 'SERVICE_NO_HELPDESK')
  })
})
