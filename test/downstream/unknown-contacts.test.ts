// A contact that the service has not met: found with few requests, and never doubled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { HelpdeskBed, person } from './harness/helpdesk-bed.ts'

const lid = { sourceId: 'lid-77', identifier: '77@lid', identifiers: ['77@lid'], phone: null, phones: [] }
const withLid = { formerSourceIds: ['lid-77'], identifiers: [person().identifier, '77@lid'] }
const address = { inbox_id: 1, source_id: person().sourceId }

/** An agent makes a contact. Resolves to its id. */
async function agentMakes(bed: HelpdeskBed, fields: object): Promise<number> {
  const { body } = await new DeskClient(bed.helpdesk).post('/contacts', { name: 'Of an agent', ...fields })
  return (body['payload'] as { contact: { id: number } }).contact.id
}

test('the contact with the address goes before another one with the phone number', async () => {
  await using bed = await HelpdeskBed.start()
  const owner = await agentMakes(bed, { phone_number: '+5511900000000', ...address })
  await agentMakes(bed, { phone_number: person().phone })
  const found = await bed.inbox.ensureContact(person())
  assert.deepEqual([found.id, found.created, found.isNewHere], [owner, false, false])
})

test('the contact with the address goes before another one with the former address', async () => {
  await using bed = await HelpdeskBed.start()
  await bed.inbox.ensureContact(person(lid))
  const owner = await agentMakes(bed, { phone_number: '+5511900000000', ...address })
  const found = await bed.inbox.ensureContact(person(withLid))
  assert.deepEqual([found.id, found.sourceId], [owner, person().sourceId])
})

test('a contact with a former address in the inbox goes before another one whose identifier fits better', async () => {
  await using bed = await HelpdeskBed.start()
  await agentMakes(bed, { identifier: person().identifier })
  const old = '551188887777'
  const owner = await agentMakes(bed, { phone_number: `+${old}`, inbox_id: 1, source_id: old })
  const spellings = { formerSourceIds: [old], phones: [`+${person().sourceId}`, `+${old}`] }
  const found = await bed.inbox.ensureContact(person(spellings))
  assert.deepEqual([found.id, found.sourceId], [owner, old])
})

test('a contact that agents merged into another one is found by its address', async () => {
  await using bed = await HelpdeskBed.start()
  const { id: drop } = await bed.inbox.ensureContact(person())
  const keep = await agentMakes(bed, { phone_number: '+5511900000000' })
  await bed.inbox.mergeContacts({ keep, drop })
  const found = await bed.inbox.ensureContact(person())
  assert.deepEqual([found.id, found.sourceId], [keep, person().sourceId])
  assert.equal(bed.helpdesk.see.contacts().length, 1)
})

for (const crmV2 of [false, true]) {
  const state = crmV2 ? 'hides from the filter' : 'shows'
  test(`a contact with only an anonymous id, which the account ${state}, is found and keeps that address`, async () => {
    await using bed = await HelpdeskBed.start({ helpdesk: { crmV2 } })
    const before = await bed.inbox.ensureContact(person(lid))
    const found = await bed.inbox.ensureContact(person(withLid))
    assert.deepEqual([found.id, found.sourceId], [before.id, 'lid-77'])
    assert.equal(bed.helpdesk.see.contacts().length, 1)
  })
}

for (const status of [404, 422]) {
  test(`a helpdesk that refuses the filter with ${status} is searched, by exactly this number`, async () => {
    await using bed = await HelpdeskBed.start()
    await agentMakes(bed, { phone_number: '+5511888877771' })
    const owner = await agentMakes(bed, { phone_number: '+551188887777' })
    const body = { error: 'Invalid attribute key' }
    await bed.helpdesk.fault({ kind: 'answer', status, body, path: /contacts\/filter$/ })
    const found = await bed.inbox.ensureContact(person({ phones: ['+5511988887777', '+551188887777'] }))
    assert.deepEqual([found.id, found.created], [owner, false])
  })
}

test('only a contact without an address in the inbox is new there, and only if the helpdesk tells its addresses', async () => {
  await using bed = await HelpdeskBed.start()
  const [outside, inside, untold] = ['5511900000001', '5511900000002', '5511900000003']
  const isNew = async (number: string) => {
    const numbers = { identifier: `${number}@s.whatsapp.net`, identifiers: [], phones: [`+${number}`] }
    return (await bed.inbox.ensureContact(person({ sourceId: number, ...numbers }))).isNewHere
  }
  await agentMakes(bed, { phone_number: `+${outside}` })
  assert.equal(await isNew(outside), true)
  assert.equal(await isNew(outside), false)
  await agentMakes(bed, { phone_number: `+${inside}`, inbox_id: 1 })
  assert.equal(await isNew(inside), false)
  const id = await agentMakes(bed, { phone_number: `+${untold}` })
  const shown = await new DeskClient(bed.helpdesk).get(`/contacts/${id}`)
  const contact = { ...(shown.body['payload'] as object), contact_inboxes: undefined }
  const body = { meta: { count: 1, current_page: 1 }, payload: [contact] }
  await bed.helpdesk.fault({ kind: 'answer', status: 200, body, path: /contacts\/filter$/ })
  assert.equal(await isNew(untold), false)
})
