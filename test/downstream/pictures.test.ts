// Pictures of contacts and pages of contacts at the simulated helpdesk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import { HelpdeskBed, person } from './harness/helpdesk-bed.ts'

const bytes = Buffer.from('ffd8ffe000104a464946', 'hex')
const file = { bytes, mimeType: 'image/jpeg', fileName: 'whatsapp-1.jpg' }

test('a picture is uploaded, shown under an address that ends with its file name, replaced and removed', async () => {
  await using bed = await HelpdeskBed.start()
  const { id } = await bed.inbox.ensureContact(person())
  assert.equal((await bed.inbox.findContact(id))?.thumbnail, null)
  const first = await bed.inbox.setAvatar(id, file)
  assert.deepEqual(Buffer.from(bed.helpdesk.see.contacts()[0]?.avatar ?? []), bytes)
  assert.match(first.thumbnail ?? '', /\/whatsapp-1\.jpg$/)
  assert.deepEqual(await bed.inbox.findContact(id), first)
  const second = await bed.inbox.setAvatar(id, file)
  assert.notEqual(second.thumbnail, first.thumbnail)
  await bed.inbox.removeAvatar(id)
  assert.equal((await bed.inbox.findContact(id))?.thumbnail, null)
  await bed.inbox.removeAvatar(id)
})

test('a picture of an unknown kind is refused', async () => {
  await using bed = await HelpdeskBed.start()
  const { id } = await bed.inbox.ensureContact(person())
  const wrong = { bytes: Buffer.from('hello'), mimeType: 'text/plain', fileName: 'a.txt' }
  await assert.rejects(bed.inbox.setAvatar(id, wrong), (error: DownstreamError) => error.status === 422)
})

test('failed uploads do not stop messages, and no upload is made while the destination rests', async () => {
  await using bed = await HelpdeskBed.start()
  const { id } = await bed.inbox.ensureContact(person())
  await bed.helpdesk.fault({ kind: 'status', status: 500, method: 'PATCH', times: 6 })
  for (let round = 0; round < 6; round++) await assert.rejects(bed.inbox.setAvatar(id, file), DownstreamError)
  assert.deepEqual(bed.downstream.resting, [])
  await bed.helpdesk.fault({ kind: 'status', status: 500, method: 'GET', times: 5 })
  for (let round = 0; round < 5; round++) await assert.rejects(bed.inbox.findContact(id), DownstreamError)
  const before = bed.asked('PATCH', /contacts/)
  await assert.rejects(bed.inbox.setAvatar(id, file), DownstreamError)
  assert.equal(bed.asked('PATCH', /contacts/), before)
})

test('pages list the contacts of the inbox with their addresses, the newest first', async () => {
  await using bed = await HelpdeskBed.start()
  for (let n = 10; n < 30; n++) {
    const phone = `55119888877${n}`
    const identifier = `${phone}@s.whatsapp.net`
    await bed.inbox.ensureContact(
      person({ sourceId: phone, identifier, identifiers: [identifier], phone: `+${phone}`, phones: [`+${phone}`] }),
    )
  }
  const first = await bed.inbox.contactsPage(1)
  const second = await bed.inbox.contactsPage(2)
  assert.deepEqual([first.contacts.length, first.isLast, second.contacts.length, second.isLast], [15, false, 5, true])
  assert.deepEqual(second.contacts.at(-1), {
    ...{ id: second.contacts.at(-1)?.id, name: person().name, email: null, isBlocked: false },
    ...{ identifier: '5511988887710@s.whatsapp.net', phone: '+5511988887710' },
    ...{ sourceIds: ['5511988887710'], elsewhere: false, attributes: {} },
  })
  assert.deepEqual(await bed.inbox.contactsPage(3), { contacts: [], isLast: true })
})
