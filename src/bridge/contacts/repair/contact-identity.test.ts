import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listedContact } from '../../../../test/harness/listed-contact.ts'
import type { ListedContact } from '../../../core/helpdesk/contact.ts'
import { identityOf } from './contact-identity.ts'

const phone = '5511988887777'
const lid = '99887766554433'
const read = (facts: Partial<ListedContact>) => identityOf(listedContact({ id: 1, ...facts }))
const person = { kind: 'person', phone, isConfirmed: true, otherPhones: [], lids: [] }

test('our own contacts stand for the phone number, the anonymous id or the group of their source id', () => {
  assert.deepEqual(read({ sourceIds: [phone], phone: `+${phone}`, identifier: `${phone}@s.whatsapp.net` }), person)
  assert.deepEqual(read({ sourceIds: [`lid-${lid}`] }), { ...person, phone: null, isConfirmed: false, lids: [lid] })
  assert.deepEqual(read({ sourceIds: ['group-120363000'] }), { kind: 'group', id: '120363000' })
})

test('contacts of other bridges stand for the address that the bridge noted', () => {
  assert.deepEqual(read({ identifier: `${phone}@s.whatsapp.net`, phone: `+${phone}`, sourceIds: ['uuid'] }), person)
  const attributes = { waha_whatsapp_jid: `${phone}@c.us`, waha_whatsapp_lid: `${lid}@lid` }
  assert.deepEqual(read({ phone: `+${phone}`, attributes }), { ...person, lids: [lid] })
  assert.deepEqual(read({ phone: `+${phone}`, attributes: { gowa_whatsapp_jid: phone } }), person)
})

test('a phone number that is made of an anonymous id is no phone number', () => {
  const found = read({ identifier: `${lid}@lid`, phone: `+${lid}`, sourceIds: ['uuid'] })
  assert.deepEqual(found, { ...person, phone: null, isConfirmed: false, lids: [lid] })
})

test('a number that only an agent typed is not confirmed by the network', () => {
  assert.deepEqual(read({ phone: `+${phone}`, sourceIds: ['uuid'] }), { ...person, isConfirmed: false })
})

test('the spelling of the network counts, not the one that an agent typed', () => {
  const found = read({ phone: '+5511988887777', sourceIds: ['551188887777'] })
  assert.deepEqual(found, { ...person, phone: '551188887777' })
})

test('a contact with several numbers names them', () => {
  const found = read({ phone: `+${phone}`, sourceIds: ['5511900000000', phone] })
  assert.deepEqual(found, { ...person, otherPhones: ['5511900000000'] })
})

test('contacts of the service and of other bridges, of no chat or of several chats have no identity', () => {
  const unclear: Partial<ListedContact>[] = [
    { identifier: 'service-ops-shop', sourceIds: ['service-ops-shop'] },
    { sourceIds: ['service-ops-shop'], phone: `+${phone}` },
    { identifier: 'whatsapp.integration' },
    { phone: '+123456' },
    { sourceIds: ['uuid'] },
    { identifier: 'crm-17', sourceIds: ['uuid'] },
    { sourceIds: ['group-1', 'group-2'] },
    { sourceIds: ['group-1', phone] },
    { sourceIds: ['group-1'], phone: `+${phone}` },
  ]
  for (const facts of unclear) assert.equal(read(facts), undefined, JSON.stringify(facts))
})
