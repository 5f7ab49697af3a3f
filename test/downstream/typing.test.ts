// The typing of a contact, through the public side of Chatwoot.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../src/core/downstream.ts'
import { HelpdeskBed, person } from './harness/helpdesk-bed.ts'

test('a contact is shown as typing, also when its address contains a dot', async () => {
  await using bed = await HelpdeskBed.start()
  for (const sourceId of ['5511888880001', 'service-ops-shop.one']) {
    const own = { sourceId, identifier: sourceId, identifiers: [sourceId], phone: null, phones: [] }
    const contact = await bed.inbox.ensureContact(person(own))
    const { id: conversationId } = await bed.inbox.ensureConversation(contact, 'new')
    await bed.inbox.setTyping({ conversationId, sourceId }, true)
    await bed.inbox.setTyping({ conversationId, sourceId }, false)
  }
  assert.equal(bed.asked('POST', /\/toggle_typing$/), 4)
  assert.equal(bed.asked('GET', /\/inboxes\/1$/), 1, 'the identifier is asked for once')
  bed.helpdesk.assertNothingRefused()
})

test('a conversation of another contact is refused', async () => {
  await using bed = await HelpdeskBed.start()
  const conversationId = await bed.openChat()
  const typing = bed.inbox.setTyping({ conversationId, sourceId: 'somewhere else' }, true)
  await assert.rejects(typing, (error) => error instanceof DownstreamError && error.failure === 'gone')
})

test('the identifier of the inbox is asked for again when it may be wrong, and not when the helpdesk fails', async () => {
  await using bed = await HelpdeskBed.start()
  const conversationId = await bed.openChat()
  const at = { conversationId, sourceId: '5511988887777' }
  await bed.helpdesk.fault({ kind: 'status', status: 500, path: /toggle_typing/, times: 1 })
  await assert.rejects(bed.inbox.setTyping(at, true))
  await bed.inbox.setTyping(at, true)
  assert.equal(bed.asked('GET', /\/inboxes\/1$/), 1)
  await assert.rejects(bed.inbox.setTyping({ ...at, sourceId: 'somewhere else' }, true))
  await bed.inbox.setTyping(at, false)
  assert.equal(bed.asked('GET', /\/inboxes\/1$/), 2)
})
