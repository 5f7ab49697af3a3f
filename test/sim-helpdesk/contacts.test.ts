// Contacts over the account API: uniqueness, lists without an order, filters, search, merging, pictures.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'

type Contact = Json & { name: string; thumbnail: string; contact_inboxes?: { source_id: string }[] }

let helpdesk: SimHelpdesk
let client: DeskClient

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
})
beforeEach(() => helpdesk.reset())
after(() => helpdesk[Symbol.asyncDispose]())

async function create(body: object): Promise<Contact> {
  const { status, body: answer, text } = await client.post('/contacts', body)
  assert.equal(status, 200, text)
  return (answer['payload'] as { contact: Contact }).contact
}

test('the answer to a new contact is 200 with its address and the whole helpdesk inbox row', async () => {
  const { status, body } = await client.post('/contacts', {
    name: 'Maria',
    identifier: '5511999999999@s.whatsapp.net',
    phone_number: '+5511999999999',
    inbox_id: 1,
    source_id: '5511999999999',
  })
  assert.equal(status, 200)
  const payload = body['payload'] as { contact: Contact; contact_inbox: { inbox: Json; source_id: string } }
  assert.equal(payload.contact_inbox.source_id, '5511999999999')
  assert.equal(payload.contact_inbox.inbox['channel_type'], 'Channel::Api')
  assert.deepEqual(
    payload.contact.contact_inboxes?.map((one) => one.source_id),
    ['5511999999999'],
  )
  assert.ok(!('last_activity_at' in payload.contact))
  helpdesk.assertNothingRefused()
})

test('phone number and identifier are unique, and the error names the attribute', async () => {
  await create({ name: 'A', phone_number: '+5511999999999', identifier: 'a@lid' })
  const phone = await client.post('/contacts', { name: 'B', phone_number: '+5511999999999' })
  assert.equal(phone.status, 422)
  assert.deepEqual(phone.body, {
    message: 'Phone number has already been taken',
    attributes: ['phone_number'],
  })
  const identifier = await client.post('/contacts', { name: 'B', identifier: 'a@lid' })
  assert.deepEqual(identifier.body['attributes'], ['identifier'])
  const malformed = await client.post('/contacts', { name: 'B', phone_number: '5511999999999' })
  assert.deepEqual(malformed.body['attributes'], ['phone_number'])
})

test('a source_id of another contact gives 500 and leaves no contact behind', async () => {
  const first = await create({ name: 'A', identifier: 'a@lid', inbox_id: 1, source_id: 'one' })
  assert.equal((await client.post('/contacts', { name: 'B', inbox_id: 1, source_id: 'one' })).status, 500)
  assert.deepEqual(
    helpdesk.see.contacts().map((one) => one.name),
    ['A'],
  )
  const other = await create({ name: 'C', identifier: 'c@lid' })
  const taken = await client.post(`/contacts/${other.id}/contact_inboxes`, { inbox_id: 1, source_id: 'one' })
  assert.equal(taken.status, 500)
  const again = await client.post(`/contacts/${first.id}/contact_inboxes`, { inbox_id: 1, source_id: 'one' })
  assert.equal(again.status, 200)
  assert.equal(helpdesk.see.contacts((one) => one.id === first.id)[0]?.addresses.length, 1)
})

test('a list shows 15 addressable contacts per page, without an order unless the request asks for one', async () => {
  for (let at = 0; at < 32; at++) await create({ name: `N${String(at).padStart(2, '0')}`, identifier: `n${at}@lid` })
  await create({ name: 'nobody' })
  const pages = await Promise.all([1, 2, 3, 4].map((page) => client.get(`/contacts?page=${page}`)))
  assert.deepEqual(
    pages.map(({ body }) => (body['payload'] as Contact[]).length),
    [15, 15, 2, 0],
  )
  assert.deepEqual(pages[1]?.body['meta'], { count: 32, current_page: '2' })
  const names = pages.flatMap(({ body }) => (body['payload'] as Contact[]).map((one) => one.name))
  assert.notDeepEqual(names, names.toSorted())
  const sorted = await client.get('/contacts?page=1&sort=-name')
  assert.equal((sorted.body['payload'] as Contact[])[0]?.name, 'N31')
})

test('a row that changes between two pages appears twice or never', async () => {
  for (let at = 0; at < 40; at++) await create({ name: `N${at}`, identifier: `n${at}@lid` })
  const seen: number[] = []
  for (const page of [1, 2, 3]) {
    const { body } = await client.get(`/contacts?page=${page}`)
    seen.push(...(body['payload'] as Contact[]).map((one) => one.id))
    for (const contact of helpdesk.see.contacts()) await client.patch(`/contacts/${contact.id}`, { name: 'touched' })
  }
  assert.ok(new Set(seen).size < 40, 'every contact was seen exactly once')
})

test('the exact look-ups match source_id, identifier and phone number only', async () => {
  const maria = await create({
    name: 'Maria',
    identifier: 'Ab@lid',
    phone_number: '+551',
    inbox_id: 1,
    source_id: 's1',
  })
  const found = await client.post('/contact_inboxes/filter', { inbox_id: 1, source_id: 's1' })
  assert.equal(found.body.id, maria.id)
  const missing = await client.post('/contact_inboxes/filter', { inbox_id: 1, source_id: 's' })
  assert.deepEqual([missing.status, missing.text], [404, ''])
  const by = async (key: string, value: string, operator = 'equal_to') => {
    const payload = [{ attribute_key: key, filter_operator: operator, values: [value], query_operator: null }]
    return client.post('/contacts/filter', { payload })
  }
  const ids = ({ body }: { body: Json }) => (body['payload'] as Contact[]).map((one) => one.id)
  assert.deepEqual(ids(await by('identifier', 'aB@LID')), [maria.id])
  assert.deepEqual(ids(await by('phone_number', '551')), [maria.id])
  assert.deepEqual(ids(await by('phone_number', '+55')), [])
  assert.equal((await by('identifier', 'a', 'contains')).status, 422)
  assert.equal((await by('shoe_size', '44')).status, 422)
})

test('a filter joins its conditions like SQL', async () => {
  const a = await create({ name: 'A', identifier: 'a@lid', phone_number: '+5511' })
  const b = await create({ name: 'B', identifier: 'b@lid' })
  const { body } = await client.post('/contacts/filter', {
    payload: [
      { attribute_key: 'identifier', filter_operator: 'equal_to', values: ['b@lid'], query_operator: 'OR' },
      { attribute_key: 'phone_number', filter_operator: 'equal_to', values: ['5511'], query_operator: null },
    ],
  })
  assert.deepEqual(
    (body['payload'] as Contact[]).map((one) => one.id).toSorted((x, y) => x - y),
    [a.id, b.id],
  )
})

test('the search accepts a plus only when it is encoded, and its limit answers with plain text', async () => {
  await create({ name: 'Maria', phone_number: '+5511999999999' })
  const size = async (q: string) => ((await client.get(`/contacts/search?q=${q}`)).body['payload'] as Contact[]).length
  assert.equal(await size('%2B5511'), 1)
  assert.equal(await size('x+5511'), 0)
  assert.equal(await size(''), 0)
  // The count restarts with each minute of the clock.
  await helpdesk.advance(60_000 - (helpdesk.clock.now() % 60_000))
  const answers = await Promise.all(Array.from({ length: 110 }, () => client.get('/contacts/search?q=M')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 10, `${refused.length} were throttled`)
  assert.equal(refused[0]?.text, 'Retry later\n')
  assert.equal(refused[0].headers.get('retry-after'), null)
})

test('an update merges attributes and replaces the rest', async () => {
  const { id } = await create({ name: 'A', identifier: 'a@lid', custom_attributes: { x: 1 } })
  await client.patch(`/contacts/${id}`, { name: 'B', custom_attributes: { y: 2 } })
  const seen = helpdesk.see.contacts()[0]
  assert.equal(seen?.name, 'B')
  assert.deepEqual(seen.customAttributes, { x: 1, y: 2 })
})

test('an uploaded picture is there at once, and a picture address is never fetched', async () => {
  const { id } = await create({ name: 'A', identifier: 'a@lid' })
  const form = new FormData()
  form.append('avatar', new Blob([new Uint8Array([1, 2, 3])], { type: 'image/jpeg' }), 'me.jpg')
  const answer = await client.send('PATCH', `/contacts/${id}`, form)
  assert.equal(answer.status, 200, answer.text)
  assert.match((answer.body['payload'] as Contact).thumbnail, /\/rails\/active_storage\/representations\/redirect\//)
  assert.deepEqual(helpdesk.see.contacts()[0]?.avatar, new Uint8Array([1, 2, 3]))
  const wrong = new FormData()
  wrong.append('avatar', new Blob(['x'], { type: 'text/plain' }), 'me.txt')
  assert.deepEqual((await client.send('PATCH', `/contacts/${id}`, wrong)).body['attributes'], ['avatar'])
  await client.delete(`/contacts/${id}/avatar`)
  await client.patch(`/contacts/${id}`, { avatar_url: 'https://example.com/a.jpg' })
  await helpdesk.settled()
  const seen = helpdesk.see.contacts()[0]
  assert.equal(seen?.avatar, null)
  assert.equal(typeof seen.additionalAttributes['avatar_url_hash'], 'string')
})

test('a merge moves addresses and conversations to the base, and the values of the base win', async () => {
  const base = await create({ name: 'Base', identifier: 'b@lid', inbox_id: 1, source_id: 'b' })
  const other = await create({ name: 'Other', phone_number: '+5511', inbox_id: 1, source_id: 'o' })
  await client.post('/conversations', { inbox_id: 1, contact_id: other.id, source_id: 'o' })
  const merged = await client.post('/actions/contact_merge', { base_contact_id: base.id, mergee_contact_id: other.id })
  assert.equal(merged.status, 200)
  assert.ok(!('contact_inboxes' in merged.body))
  const seen = helpdesk.see.contacts()
  assert.deepEqual(
    seen.map((one) => [one.name, one.phoneNumber, one.addresses.length]),
    [['Base', '+5511', 2]],
  )
  assert.equal(helpdesk.see.conversations()[0]?.contactId, base.id)
})

test('a request with an unknown parameter is refused and recorded', async () => {
  const { status } = await client.post('/contacts', { name: 'A', nick_name: 'B' })
  assert.equal(status, 400)
  assert.throws(() => {
    helpdesk.assertNothingRefused()
  }, /bad_request: POST \/api\/v1\/accounts\/1\/contacts/)
  await client.get('/contact')
  assert.equal(helpdesk.refusals.at(-1)?.kind, 'unknown_route')
})

test('without strict checks an unknown parameter is ignored, as Chatwoot ignores it', async () => {
  helpdesk.configure({ isStrict: false })
  const { status } = await client.post('/contacts', { name: 'A', nick_name: 'B' })
  assert.equal(status, 200)
  helpdesk.assertNothingRefused()
})
