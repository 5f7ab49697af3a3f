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
  bed.helpdesk.assertNothingRefused()
})

test('a conversation of another contact is refused', async () => {
  await using bed = await HelpdeskBed.start()
  const conversationId = await bed.openChat()
  const typing = bed.inbox.setTyping({ conversationId, sourceId: 'somewhere else' }, true)
  await assert.rejects(typing, (error) => error instanceof DownstreamError && error.failure === 'gone')
})
