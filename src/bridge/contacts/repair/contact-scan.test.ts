import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listedContact } from '../../../../test/harness/listed-contact.ts'
import type { ContactsPage, ListedContact } from '../../../core/helpdesk/contact.ts'
import type { JobTarget } from '../../../jobs/helpdesk-attempts.ts'
import type { KnownContact } from '../../../storage/stores/people/contact-store.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import { ContactScan } from './contact-scan.ts'

const phone = '5511988887777'
const former = '5511900000000'
const place = { instance: 'shop', destination: 'desk' }
const never = new AbortController().signal

function scanOf(
  pages: readonly ContactsPage[],
  records: Partial<PersonRecord>[] = [],
  known: Partial<KnownContact>[] = [],
) {
  const contactsPage = (page: number) => Promise.resolve(pages[page - 1] ?? { contacts: [], isLast: true })
  const scan = new ContactScan({
    requests: { ask: (_place, request) => request({ helpdesk: { contactsPage } } as unknown as JobTarget) },
    people: { findAll: () => Promise.resolve(records as PersonRecord[]) },
    contacts: { findContacts: () => Promise.resolve(known as KnownContact[]) },
  })
  return scan.run(place, never, () => undefined)
}

const onePage = (...contacts: ListedContact[]): ContactsPage[] => [{ contacts, isLast: true }]

test('a contact that is listed on two pages counts once', async () => {
  const contact = listedContact({ id: 1, sourceIds: [phone] })
  const { count, contacts } = await scanOf([
    { contacts: [contact], isLast: false },
    { contacts: [contact, listedContact({ id: 2, sourceIds: ['uuid'] })], isLast: true },
  ])
  assert.deepEqual([count, contacts.map(({ id }) => id)], [2, [1]])
})

test('a contact with a second number is left alone, unless its person had that number before', async () => {
  const contact = listedContact({ id: 1, phone: `+${phone}`, sourceIds: [former] })
  assert.equal((await scanOf(onePage(contact))).contacts.length, 0)
  const person = { id: 'p', phone, lid: null, formerPhones: [former] }
  assert.deepEqual(
    (await scanOf(onePage(contact), [person])).contacts.map((each) => each.phone),
    [phone],
  )
  const other = { ...person, phone: '5511911111111' }
  assert.equal((await scanOf(onePage(contact), [other])).contacts.length, 0)
})

test('rows that name another contact for an address say that the address has moved', async () => {
  const contact = listedContact({ id: 1, sourceIds: [phone] })
  const { contacts, moved } = await scanOf(onePage(contact), [], [{ sourceId: phone, contactId: 7 }])
  assert.deepEqual(moved, [{ from: 7, to: 1 }])
  assert.equal(contacts[0]?.isUsed, true)
  assert.deepEqual((await scanOf(onePage(contact), [], [{ sourceId: phone, contactId: 1 }])).moved, [])
})

test('what the network stated is kept by anonymous id and by spelling', async () => {
  const contact = listedContact({ id: 1, sourceIds: [phone] })
  const { stated } = await scanOf(onePage(contact), [
    { phone, lid: '99' },
    { phone: null, lid: '98' },
  ])
  assert.deepEqual([...stated.phoneOfLid], [['99', phone]])
  assert.deepEqual([...stated.spellings], [phone])
})

test('a helpdesk inbox with more than 200,000 contacts is refused', async () => {
  const pages = Array.from({ length: 21 }, (_, page) => ({
    contacts: Array.from({ length: 10_000 }, (__, index) => listedContact({ id: page * 10_000 + index + 1 })),
    isLast: page === 20,
  }))
  await assert.rejects(scanOf(pages), /more than 200000 contacts/)
})
