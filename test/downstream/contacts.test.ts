// Contacts at the helpdesk: found exactly, adopted, never doubled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { HelpdeskBed, person } from './harness/helpdesk-bed.ts'

test('a new contact is created with its address in the inbox, and found by it afterwards', async () => {
  await using bed = await HelpdeskBed.start()
  const created = await bed.inbox.ensureContact(person())
  const found = await bed.inbox.ensureContact(person({ name: 'Somebody else' }))
  assert.deepEqual(created, {
    id: created.id,
    name: 'Maria',
    identifier: '5511988887777@s.whatsapp.net',
    phone: '+5511988887777',
    sourceId: '5511988887777',
    elsewhere: false,
    created: true,
    isNewHere: true,
  })
  assert.deepEqual(found, { ...created, created: false, isNewHere: false })
  assert.equal(bed.asked('POST', /contacts\/filter$/), 2)
  bed.helpdesk.assertNothingRefused()
})

test('a contact under a former address is found there and keeps it', async () => {
  await using bed = await HelpdeskBed.start()
  const lid = { sourceId: 'lid-77', identifier: '77@lid', identifiers: ['77@lid'], phone: null, phones: [] }
  const before = await bed.inbox.ensureContact(person(lid))
  const after = await bed.inbox.ensureContact(person({ formerSourceIds: ['lid-77'] }))
  assert.deepEqual([after.id, after.sourceId, after.created], [before.id, 'lid-77', false])
})

test('a contact of another inbox is taken into ours and said to be elsewhere', async () => {
  await using bed = await HelpdeskBed.start()
  const other = bed.helpdesk.world.addInbox({ name: 'Website' })
  const client = new DeskClient(bed.helpdesk)
  await client.post('/contacts', { name: 'Maria S.', phone_number: '+5511988887777', inbox_id: other.id })
  const contact = await bed.inbox.ensureContact(person())
  assert.deepEqual([contact.name, contact.elsewhere, contact.created], ['Maria S.', true, false])
  const [row] = bed.helpdesk.see.contacts()
  assert.deepEqual(
    row?.addresses.map(({ inboxId }) => inboxId),
    [other.id, 1],
  )
  bed.helpdesk.assertNothingRefused()
})

test('only an exact match is taken: neither a longer number nor one that contains it', async () => {
  await using bed = await HelpdeskBed.start()
  const client = new DeskClient(bed.helpdesk)
  await client.post('/contacts', { name: 'Longer', phone_number: '+55119888877771' })
  await client.post('/contacts', { name: '5511988887777', identifier: 'x5511988887777@s.whatsapp.net' })
  const contact = await bed.inbox.ensureContact(person())
  assert.equal(contact.created, true)
  assert.equal(bed.helpdesk.see.contacts().length, 3)
})

test('spellings of the number find the contact; the identifier goes before the phone', async () => {
  await using bed = await HelpdeskBed.start()
  const client = new DeskClient(bed.helpdesk)
  await client.post('/contacts', { name: 'By phone', phone_number: '+5511988887777' })
  await client.post('/contacts', { name: 'By identifier', identifier: '551188887777@s.whatsapp.net' })
  const contact = await bed.inbox.ensureContact(
    person({ identifiers: ['5511988887777@s.whatsapp.net', '551188887777@s.whatsapp.net'] }),
  )
  assert.equal(contact.name, 'By identifier')
})

test('callers that need the same contact at once share one creation', async () => {
  await using bed = await HelpdeskBed.start()
  const found = await Promise.all(Array.from({ length: 20 }, () => bed.inbox.ensureContact(person())))
  assert.equal(new Set(found.map(({ id }) => id)).size, 1)
  assert.equal(bed.asked('POST', /\/contacts$/), 1)
})

test('two processes that create the contact at once end with the same one', async () => {
  await using bed = await HelpdeskBed.start()
  // Both have looked and found nothing; the other one is quicker.
  await bed.helpdesk.fault({ kind: 'slow', ms: 300, method: 'POST', path: /\/contacts$/, times: 1 })
  const slow = bed.inbox.ensureContact(person())
  await bed.helpdesk.waitForHeldRequests()
  const quick = await new DeskClient(bed.helpdesk).post('/contacts', {
    name: 'Maria',
    identifier: person().identifier,
    inbox_id: 1,
    source_id: person().sourceId,
  })
  const { contact } = quick.body['payload'] as { contact: { id: number } }
  assert.deepEqual([(await slow).id, (await slow).created], [contact.id, false])
  assert.equal(bed.helpdesk.see.contacts().length, 1)
})

test('a phone number that another contact took meanwhile leads to that contact', async () => {
  await using bed = await HelpdeskBed.start()
  await bed.helpdesk.fault({ kind: 'slow', ms: 300, method: 'POST', path: /\/contacts$/, times: 1 })
  const slow = bed.inbox.ensureContact(person())
  await bed.helpdesk.waitForHeldRequests()
  await new DeskClient(bed.helpdesk).post('/contacts', { name: 'Imported', phone_number: '+5511988887777' })
  assert.deepEqual([(await slow).name, (await slow).sourceId], ['Imported', '5511988887777'])
})

test('a contact whose phone number the filter misses is found by search, by exactly this number', async () => {
  await using bed = await HelpdeskBed.start()
  const client = new DeskClient(bed.helpdesk)
  await client.post('/contacts', { name: 'Longer', phone_number: '+55119888877771' })
  await client.post('/contacts', { name: 'Imported', phone_number: '+5511988887777' })
  const nothing = { meta: { count: 0, current_page: 1 }, payload: [] }
  await bed.helpdesk.fault({ kind: 'answer', status: 200, body: nothing, path: /contacts\/filter$/ })
  const contact = await bed.inbox.ensureContact(person())
  assert.deepEqual([contact.name, contact.phone, contact.created], ['Imported', '+5511988887777', false])
  assert.equal(bed.helpdesk.see.contacts().length, 2)
})

test('a phone number that is taken by a contact which cannot be found is refused, never left out', async () => {
  await using bed = await HelpdeskBed.start()
  const body = { message: 'Phone number has already been taken', attributes: ['phone_number'] }
  await bed.helpdesk.fault({ kind: 'answer', status: 422, body, method: 'POST', path: /\/contacts$/, times: 1 })
  await assert.rejects(bed.inbox.ensureContact(person()), { failure: 'unexplained', status: 422 })
  assert.deepEqual(bed.helpdesk.see.contacts(), [])
})

test('a creation that crashed after its commit is found again', async () => {
  await using bed = await HelpdeskBed.start()
  const fault = {
    kind: 'status',
    status: 500,
    afterCommit: true,
    method: 'POST',
    path: /\/contacts$/,
    times: 1,
  } as const
  await bed.helpdesk.fault(fault)
  const contact = await bed.inbox.ensureContact(person())
  assert.equal(contact.sourceId, '5511988887777')
  assert.equal(bed.helpdesk.see.contacts().length, 1)
})

test('a group that the contact list of the account hides is found by search', async () => {
  await using bed = await HelpdeskBed.start({ helpdesk: { crmV2: true } })
  const group = { identifier: '1203@g.us', identifiers: ['1203@g.us'], phone: null, phones: [], sourceId: 'group-1203' }
  await new DeskClient(bed.helpdesk).post('/contacts', { name: 'Team', identifier: '1203@g.us' })
  const contact = await bed.inbox.ensureContact(person(group))
  assert.deepEqual([contact.name, contact.sourceId], ['Team', 'group-1203'])
  assert.equal(bed.helpdesk.see.contacts().length, 1)
})

test('an impossible phone is left out and a long name cut, not refused', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person({ phone: '+0', phones: [], name: '😀'.repeat(300) }))
  assert.deepEqual([contact.phone, contact.name], [null, '😀'.repeat(127)])
  await bed.inbox.updateContact(contact.id, { name: 'x'.repeat(300), phone: 'none', identifier: 'new@lid' })
  const [row] = bed.helpdesk.see.contacts()
  assert.deepEqual([row?.name.length, row?.phoneNumber, row?.identifier], [255, null, 'new@lid'])
  bed.helpdesk.assertNothingRefused()
})

test('merging keeps one contact with both addresses; merging again says that the other is gone', async () => {
  await using bed = await HelpdeskBed.start()
  const lid = { sourceId: 'lid-77', identifier: '77@lid', identifiers: ['77@lid'], phone: null, phones: [] }
  const keep = await bed.inbox.ensureContact(person())
  const drop = await bed.inbox.ensureContact(person(lid))
  await bed.inbox.mergeContacts({ keep: keep.id, drop: drop.id })
  const byLid = await bed.inbox.ensureContact(person(lid))
  assert.deepEqual([byLid.id, byLid.sourceId], [keep.id, 'lid-77'])
  const gone = bed.inbox.mergeContacts({ keep: keep.id, drop: drop.id })
  await assert.rejects(gone, (error) => error instanceof DownstreamError && error.failure === 'gone')
  bed.helpdesk.assertNothingRefused()
})

test('a contact is shown as it is now, and not at all when it is gone', async () => {
  await using bed = await HelpdeskBed.start()
  const { id } = await bed.inbox.ensureContact(person())
  const client = new DeskClient(bed.helpdesk)
  await client.patch(`/contacts/${id}`, { name: 'Maria of the bakery' })
  const shown = await bed.inbox.findContact(id)
  assert.deepEqual(shown, { id, name: 'Maria of the bakery', thumbnail: null })
  assert.equal(await bed.inbox.findContact(id + 1), null)
  bed.helpdesk.assertNothingRefused()
})
