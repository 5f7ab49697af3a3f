// The address book of the phone is made known to the helpdesk: names for contacts that exist, new contacts on request.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { namesAt, renameByAgent } from '../sync/harness/named-contacts.ts'
import {
  askImport,
  completed,
  contactCalled,
  importContacts,
  jobOf,
  saveAll,
  startImport,
} from './harness/contact-jobs.ts'

/** The phone numbers of the people. */
const phones = { maria: '5511988887777', bob: '14155550102', eve: '14155550103' }

function meet({ network }: World) {
  return {
    maria: network.person({ phone: phones.maria, pushName: 'Maria' }),
    bob: network.person({ phone: phones.bob, pushName: 'Bob' }),
    eve: network.person({ phone: phones.eve, pushName: 'Eve' }),
  }
}

/** The requests that change something at the helpdesk. */
function changesAt({ helpdesk }: World): number {
  const isChange = ({ method, path }: { method: string; path: string }) =>
    method !== 'GET' && !path.includes('filter') && path.includes('/contacts')
  return helpdesk.requests.filter(isChange).length
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`an import of the address book on ${engine}`, { concurrency: 3 }, () => {
    test('gives contacts that exist their saved names, leaves those of agents and creates none', async () => {
      await using world = await World.open({ engine })
      const { maria, bob, eve } = meet(world)
      for (const person of [maria, bob]) await world.arrived(person.text(world.phone, 'hello'))
      await renameByAgent(world, 'Bob', 'Robert (supplier)')
      await saveAll(world, [
        [maria, 'Aunt Maria'],
        [bob, 'Uncle Bob'],
        [eve, 'Eve'],
      ])
      const id = await startImport(world)
      const job = await completed(world, id)
      assert.equal(job.type, 'contacts_import')
      assert.deepEqual(job.result, { scanned: 3, renamed: 1, created: 0, skipped: 2, errors: 0 })
      assert.deepEqual(job.progress, { done: 3, total: 3, errors: 0, estimated_end_at: null })
      assert.deepEqual(namesAt(world).sort(), ['Aunt Maria', 'Robert (supplier)'])
    })

    test('creates contacts on request, once, and a later message goes to the same contact', async () => {
      await using world = await World.open({ engine })
      const { maria, bob } = meet(world)
      await saveAll(world, [
        [maria, 'Aunt Maria'],
        [bob, 'Uncle Bob'],
      ])
      const asked = { only: 'saved', create: true }
      assert.deepEqual(await importContacts(world, asked), {
        scanned: 2,
        renamed: 0,
        created: 2,
        skipped: 0,
        errors: 0,
      })
      const { id, phoneNumber, identifier, addresses } = contactCalled(world, 'Uncle Bob')
      assert.deepEqual([phoneNumber, identifier], [`+${phones.bob}`, `${phones.bob}@s.whatsapp.net`])
      assert.deepEqual(addresses, [{ inboxId: 1, sourceId: phones.bob }])
      const before = changesAt(world)
      await world.restart()
      assert.deepEqual(await importContacts(world, asked), {
        scanned: 2,
        renamed: 0,
        created: 0,
        skipped: 2,
        errors: 0,
      })
      assert.equal(changesAt(world), before, 'a second run changes nothing')
      await world.arrived(bob.text(world.phone, 'hello'))
      assert.equal(contactCalled(world, 'Uncle Bob').id, id)
      assert.equal(world.helpdesk.see.contacts().length, 2)
      world.helpdesk.assertNothingRefused()
    })

    test('takes people of whom only the push name is known, unless only saved ones are asked for', async () => {
      await using world = await World.open({ engine })
      const { bob } = meet(world)
      await world.arrived(bob.text(world.network.group('Team', bob, [world.phone]), 'to all'))
      const saved = await importContacts(world, { only: 'saved', create: true })
      assert.deepEqual(saved, { scanned: 0, renamed: 0, created: 0, skipped: 0, errors: 0 })
      await importContacts(world, { only: null, create: true })
      assert.equal(contactCalled(world, 'Bob').phoneNumber, `+${phones.bob}`)
    })

    test('leaves out the own number and people who are not bridged, and counts them', async () => {
      await using world = await World.open({ engine, environment: { SERVICE_IGNORE_JIDS: `${phones.bob}@*` } })
      const { bob, eve } = meet(world)
      world.phone.saveContact(world.phone, 'Me')
      await saveAll(
        world,
        [
          [bob, 'Uncle Bob'],
          [eve, 'Eve'],
        ],
        1,
      )
      const result = await importContacts(world, { create: true })
      assert.deepEqual(result, { scanned: 3, renamed: 0, created: 1, skipped: 2, errors: 0 })
      assert.deepEqual(namesAt(world), ['Eve'])
    })

    test('uses a contact of an agent as it is', async () => {
      await using world = await World.open({ engine })
      const { bob } = meet(world)
      await new DeskClient(world.helpdesk).post('/contacts', { name: 'Bob (CRM)', phone_number: `+${phones.bob}` })
      await saveAll(world, [[bob, 'Uncle Bob']])
      const result = { scanned: 1, renamed: 0, created: 0, skipped: 1, errors: 0 }
      for (let run = 0; run < 2; run++) assert.deepEqual(await importContacts(world, { create: true }), result)
      assert.deepEqual(namesAt(world), ['Bob (CRM)'])
    })
  })

  describe(`a running import of the address book on ${engine}`, { concurrency: 3 }, () => {
    test('waits while the helpdesk is away, is alone and can be cancelled', async () => {
      await using world = await World.open({ engine, clock: new FastClock(20) })
      const { maria, bob } = meet(world)
      await saveAll(world, [
        [maria, 'Aunt Maria'],
        [bob, 'Uncle Bob'],
      ])
      await world.helpdesk.fault({ kind: 'refused' })
      const id = await startImport(world, { create: true })
      await waitUntil('the job runs', async () => (await jobOf(world, id)).status === 'running')
      assertRefused(await askImport(world, { create: true }), 'SERVICE_JOB_RUNNING', new RegExp(id))
      const { status, body } = await world.service.request('DELETE', `/api/jobs/${id}`)
      assert.deepEqual([status, (body as { status: string }).status], [200, 'cancelled'])
      await world.helpdesk.clearFaults()
      assert.deepEqual(await importContacts(world, { create: true }), {
        ...{ scanned: 2, renamed: 0, created: 2, skipped: 0, errors: 0 },
      })
      const { body: log } = await world.service.get('/api/audit?limit=500')
      const actions = (log as { entries: { action: string }[] }).entries.map(({ action }) => action)
      assert.deepEqual(actions.filter((action) => /^(contacts|job)\./.test(action)).reverse(), [
        'contacts.import',
        'job.cancel',
        'contacts.import',
      ])
    })

    test('goes on after a restart, and goes on when the helpdesk is back', async () => {
      await using world = await World.open({ engine, clock: new FastClock(20) })
      const { maria, bob } = meet(world)
      await saveAll(world, [
        [maria, 'Aunt Maria'],
        [bob, 'Uncle Bob'],
      ])
      await world.helpdesk.fault({ kind: 'refused' })
      const id = await startImport(world, { create: true })
      await waitUntil('the job runs', async () => (await jobOf(world, id)).status === 'running')
      await world.restart()
      await world.helpdesk.clearFaults()
      const { result } = await completed(world, id)
      assert.equal(result?.['created'], 2)
      assert.equal(world.helpdesk.see.contacts().length, 2)
    })

    test('ends with its instance', async () => {
      await using world = await World.open({ engine, clock: new FastClock(20) })
      const { maria } = meet(world)
      await saveAll(world, [[maria, 'Aunt Maria']])
      await world.helpdesk.fault({ kind: 'refused' })
      const id = await startImport(world, { create: true })
      await waitUntil('the job runs', async () => (await jobOf(world, id)).status === 'running')
      assert.equal((await world.service.request('DELETE', '/api/instances/n0')).status, 200)
      assertRefused(await world.service.get(`/api/jobs/${id}`), 'SERVICE_JOB_NOT_FOUND')
      await world.helpdesk.clearFaults()
      assert.deepEqual(namesAt(world), [])
    })
  })

  test(`a request for an import that makes no sense is refused and changes nothing on ${engine}`, async () => {
    await using world = await World.open({ engine })
    for (const [body, field] of [
      [{ only: 'all' }, /only/],
      [{ only: 7 }, /only/],
      [{ create: 'yes' }, /create/],
      [{ create: null }, /create/],
      [[], /body|object/],
      [{ onyl: 'saved', create: true }, /the body has the unknown field "onyl"; it takes: only, create/],
    ] as const) {
      assertRefused(await askImport(world, body), 'SERVICE_BAD_REQUEST', field)
    }
    assertRefused(await askImport(world, {}, 'nobody'), 'SERVICE_INSTANCE_NOT_FOUND')
    await world.create({ name: 'new' })
    assertRefused(await askImport(world, {}, 'new'), 'SERVICE_NOT_READY', /link the account/)
    assert.deepEqual((await world.service.get('/api/jobs')).body, [])
    await world.service.request('DELETE', '/api/instances/new')
    await world.restart({ DOWNSTREAM_BASE_URL: '' })
    assertRefused(await askImport(world), 'SERVICE_NO_HELPDESK', /set DOWNSTREAM_\*/)
    assert.deepEqual((await world.service.get('/api/jobs')).body, [])
    await world.restart({ SERVICE_RETROACTIVE_NAME_UPDATE: 'false' })
    assertRefused(await askImport(world, {}), 'SERVICE_NAMES_DISABLED', /create/)
    await completed(world, await startImport(world, { create: true }))
  })
}
