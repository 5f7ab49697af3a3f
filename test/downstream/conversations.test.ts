// Conversations at the helpdesk: the right one is found, and never two are opened for one need.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import { importMark } from '../../src/downstream/import-mark.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { createDownstream, HelpdeskBed, person, text } from './harness/helpdesk-bed.ts'

const isGone = (error: unknown) => error instanceof DownstreamError && error.failure === 'gone'

test('the open conversation is found; a resolved one is left or used again by mode', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const first = await bed.inbox.ensureConversation(contact, 'new')
  const { inboxId } = bed.destination
  const fresh = { status: 'open', inboxId, contactId: contact.id, newestMessageId: null, callbackSign: null }
  assert.deepEqual(first, { id: first.id, ...fresh })
  const posted = await bed.inbox.post(first.id, text('hello'))
  const callbackSign = { at: posted.createdAt, failure: null, failedId: null }
  assert.deepEqual(await bed.inbox.ensureConversation(contact, 'new'), {
    ...first,
    newestMessageId: posted.id,
    callbackSign,
  })
  await new DeskClient(bed.helpdesk).post(`/conversations/${first.id}/toggle_status`, { status: 'resolved' })
  const reopened = await bed.inbox.ensureConversation(contact, 'reopen')
  assert.deepEqual([reopened.id, reopened.status], [first.id, 'resolved'])
  const second = await bed.inbox.ensureConversation(contact, 'new')
  assert.notEqual(second.id, first.id)
  bed.helpdesk.assertNothingRefused()
})

test('a conversation names its newest message when the helpdesk shows that message to the customer as failed', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const { id } = await bed.inbox.ensureConversation(contact, 'new')
  const posted = await bed.inbox.post(id, { ...text('hello'), type: 'outgoing' })
  assert.equal((await bed.inbox.findConversation(id))?.callbackSign?.failedId, null)
  await bed.inbox.setStatus(id, posted.id, 'failed', 'the number is not on WhatsApp')
  const sign = (await bed.inbox.findConversation(id))?.callbackSign
  assert.deepEqual([sign?.failedId, sign?.failure], [posted.id, null])
})

test('an inbox locked to one conversation gives the resolved conversation back, and the message goes there', async () => {
  await using bed = await HelpdeskBed.start()
  const client = new DeskClient(bed.helpdesk)
  await client.patch('/inboxes/1', { lock_to_single_conversation: true })
  const contact = await bed.inbox.ensureContact(person())
  const first = await bed.inbox.ensureConversation(contact, 'new')
  await client.post(`/conversations/${first.id}/toggle_status`, { status: 'resolved' })
  assert.equal((await bed.inbox.ensureConversation(contact, 'new')).id, first.id)
})

for (const mode of ['new', 'reopen'] as const) {
  test(`a conversation that was created for the history is never the one for new messages, in the mode ${mode}`, async () => {
    await using bed = await HelpdeskBed.start()
    const client = new DeskClient(bed.helpdesk)
    const contact = await bed.inbox.ensureContact(person())
    const place = { inbox_id: 1, contact_id: contact.id, source_id: contact.sourceId, status: 'pending' }
    const create = async (kind: 'history' | 'chat') =>
      (
        await client.post('/conversations', {
          ...place,
          additional_attributes: importMark({ createdFor: kind, mark: null }),
        })
      ).body.id
    const history = await create('history')
    assert.equal((await bed.inbox.findConversation(history))?.isHistory, true)
    const first = await bed.inbox.ensureConversation(contact, mode)
    assert.deepEqual([first.id === history, first.isHistory], [false, undefined])
    await client.post(`/conversations/${first.id}/toggle_status`, { status: 'resolved' })
    const chat = await create('chat')
    await create('history')
    assert.equal((await bed.inbox.ensureConversation(contact, mode)).id, chat)
  })
}

test('a burst opens one conversation', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const found = await Promise.all(Array.from({ length: 20 }, () => bed.inbox.ensureConversation(contact, 'new')))
  assert.equal(new Set(found.map(({ id }) => id)).size, 1)
  assert.equal(bed.helpdesk.see.conversations().length, 1)
})

test('callers that share no memory open several conversations in the same burst', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  await using other = createDownstream()
  const inboxes = [bed.inbox, other.helpdesk(bed.destination)]
  // Both have looked before either has opened one.
  await bed.helpdesk.fault({ kind: 'slow', ms: 200, method: 'POST', path: /conversations$/, times: 2 })
  await Promise.all(inboxes.map((inbox) => inbox.ensureConversation(contact, 'new')))
  assert.equal(bed.helpdesk.see.conversations().length, 2)
})

test('a conversation that an agent started is used, although it has another address', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const agent = new DeskClient(bed.helpdesk, bed.helpdesk.world.addAgent({ name: 'Ana', inboxIds: [1] }).token)
  const started = await agent.post('/conversations', {
    inbox_id: 1,
    contact_id: contact.id,
    message: { content: 'Hi' },
  })
  assert.equal((await bed.inbox.ensureConversation(contact, 'new')).id, started.body.id)
})

test('the conversation is found, although the contact has many later ones in another inbox', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const { id } = await bed.inbox.ensureConversation(contact, 'new')
  await bed.inbox.post(id, text('hello'))
  const client = new DeskClient(bed.helpdesk)
  const { id: inbox_id } = bed.helpdesk.world.addInbox({ name: 'Website' })
  for (let count = 0; count < 20; count++) {
    await client.post('/conversations', { inbox_id, contact_id: contact.id, message: { content: 'Hi' } })
  }
  assert.equal((await bed.inbox.ensureConversation(contact, 'new')).id, id)
})

test('no conversation of a contact that has none is searched, unless a parallel caller gave the contact its address', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const { id } = await bed.inbox.ensureConversation(contact, 'new', { isFirst: true })
  assert.equal(bed.asked('GET', /conversations$/), 0)
  const body = { error: 'source_id should be unique' }
  await bed.helpdesk.fault({ kind: 'answer', status: 422, body, method: 'POST', path: /conversations$/, times: 1 })
  assert.equal((await bed.inbox.ensureConversation(contact, 'new', { isFirst: true })).id, id)
})

test('the conversation of another number of a merged contact is not used', async () => {
  await using bed = await HelpdeskBed.start()
  const numbers = { identifier: '5511900000000@s.whatsapp.net', identifiers: [], phone: null, phones: [] }
  const other = await bed.inbox.ensureContact(person({ sourceId: '5511900000000', ...numbers }))
  const theirs = await bed.inbox.ensureConversation(other, 'new')
  await bed.inbox.post(theirs.id, text('from the other number'))
  const contact = await bed.inbox.ensureContact(person())
  await bed.inbox.mergeContacts({ keep: contact.id, drop: other.id })
  assert.notEqual((await bed.inbox.ensureConversation(contact, 'reopen')).id, theirs.id)
})

test('the conversation of another account of ours is left alone', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const theirs = await bed.inbox.ensureConversation(contact, 'new')
  const ours = await bed.inbox.ensureConversation(contact, 'new', { except: [theirs.id] })
  assert.notEqual(ours.id, theirs.id)
  assert.equal((await bed.inbox.ensureConversation(contact, 'new', { except: [theirs.id] })).id, ours.id)
})

test('a blocked contact does not get a conversation per message', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  await new DeskClient(bed.helpdesk).patch(`/contacts/${contact.id}`, { blocked: true })
  const first = await bed.inbox.ensureConversation(contact, 'new')
  assert.equal(first.status, 'resolved')
  assert.equal((await bed.inbox.ensureConversation(contact, 'new')).id, first.id)
})

test('a deleted conversation is known to be gone and opened anew', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  assert.equal((await bed.inbox.findConversation(id))?.id, id)
  bed.helpdesk.world.deleteConversation(id)
  assert.equal(await bed.inbox.findConversation(id), null)
  await assert.rejects(bed.inbox.post(id, text('hello')), isGone)
  await assert.rejects(bed.inbox.newestMessageId(id), isGone)
  assert.notEqual(await bed.openChat(), id)
})

test('a deleted contact is gone; a deleted inbox is a fault of the destination', async () => {
  await using bed = await HelpdeskBed.start()
  await assert.rejects(bed.inbox.ensureConversation({ id: 4711, sourceId: 'x' }, 'new'), isGone)
  const contact = await bed.inbox.ensureContact(person())
  await bed.helpdesk.fault({ kind: 'inbox_deleted', inboxId: 1 })
  const isDestination = (error: unknown) => error instanceof DownstreamError && error.failure === 'destination'
  await assert.rejects(bed.inbox.ensureConversation(contact, 'new'), isDestination)
  await assert.rejects(bed.inbox.ensureContact(person(), { isKnown: true }), isDestination)
  const other = { sourceId: '1', identifier: '1@lid', identifiers: ['1@lid'], phone: null, phones: [] }
  await assert.rejects(bed.inbox.ensureContact(person(other)), isDestination)
  await new DeskClient(bed.helpdesk).post('/contacts', { name: 'Imported', identifier: '1@lid' })
  await assert.rejects(bed.inbox.ensureContact(person(other)), isDestination)
  await assert.rejects(bed.inbox.probe(), isDestination)
})

test('a contact whose address moved to another contact is gone', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const other = await bed.inbox.ensureContact(
    person({ sourceId: '1', identifier: '1@lid', identifiers: [], phone: null, phones: [] }),
  )
  await assert.rejects(bed.inbox.ensureConversation({ id: other.id, sourceId: contact.sourceId }, 'new'), isGone)
})

test('an address that a parallel caller creates for the same contact is tried again at once', async () => {
  await using bed = await HelpdeskBed.start()
  const contact = await bed.inbox.ensureContact(person())
  const answer = { kind: 'answer', status: 422, body: { error: 'source_id should be unique' } } as const
  await bed.helpdesk.fault({ ...answer, method: 'POST', path: /conversations$/, times: 1 })
  const conversation = await bed.inbox.ensureConversation(contact, 'new')
  assert.deepEqual(
    bed.helpdesk.see.conversations().map(({ id, contactId }) => [id, contactId]),
    [[conversation.id, contact.id]],
  )
  await bed.helpdesk.fault({ ...answer, method: 'POST', path: /conversations$/ })
  await assert.rejects(bed.inbox.ensureConversation(contact, 'new', { except: [conversation.id] }), {
    failure: 'transient',
  })
})

test('after an uncertain creation no second conversation is made while the first may still appear', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ helpdesk: { clock }, downstream: { clock } })
  const contact = await bed.inbox.ensureContact(person())
  await bed.helpdesk.fault({
    kind: 'timeout',
    commit: 'late',
    commitMs: [14_000, 14_000],
    method: 'POST',
    path: /conversations$/,
    times: 1,
  })
  const first = assert.rejects(bed.inbox.ensureConversation(contact, 'new'), { mayHaveHappened: true })
  await bed.helpdesk.waitForHeldRequests()
  await clock.advance(5100)
  await first
  await assert.rejects(bed.inbox.ensureConversation(contact, 'new'), { failure: 'transient', mayHaveHappened: false })
  assert.equal(bed.asked('POST', /conversations$/), 0, 'none is answered, and none but the first was made')
  await clock.advance(9500)
  const found = await bed.inbox.ensureConversation(contact, 'new')
  assert.deepEqual(
    bed.helpdesk.see.conversations().map(({ id }) => id),
    [found.id],
  )
})

test('a caller that does not remember the uncertain creation opens a second conversation', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ helpdesk: { clock }, downstream: { clock } })
  const contact = await bed.inbox.ensureContact(person())
  const late = { kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], times: 1 } as const
  await bed.helpdesk.fault({ ...late, method: 'POST', path: /conversations$/ })
  const first = assert.rejects(bed.inbox.ensureConversation(contact, 'new'))
  await bed.helpdesk.waitForHeldRequests()
  await clock.advance(5100)
  await first
  await using forgetful = createDownstream({ clock })
  await forgetful.helpdesk(bed.destination).ensureConversation(contact, 'new')
  await clock.advance(9500)
  await waitUntil('the late conversation is there, too', () => bed.helpdesk.see.conversations().length === 2)
})

test('when the uncertain conversation does not appear, another is made after the waiting time', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ helpdesk: { clock }, downstream: { clock } })
  const contact = await bed.inbox.ensureContact(person())
  await bed.helpdesk.fault({ kind: 'cut', method: 'POST', path: /conversations$/, times: 1 })
  await assert.rejects(bed.inbox.ensureConversation(contact, 'new'), { mayHaveHappened: true })
  await assert.rejects(bed.inbox.ensureConversation(contact, 'new'), { failure: 'transient' })
  await clock.advance(20_001)
  assert.equal((await bed.inbox.ensureConversation(contact, 'new')).status, 'open')
})
