import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Recipient } from '../../../core/helpdesk/callback.ts'
import { recipientChat } from './recipients.ts'

const nobody: Recipient = { identifier: null, phone: null, sourceId: null }
const byPhone = (phone: string) => ({ kind: 'person', phone, lid: null })
const byLid = (lid: string) => ({ kind: 'person', phone: null, lid })

const rows: [what: string, recipient: Partial<Recipient>, chat: unknown][] = [
  ['the identifier', { identifier: '5511999990001@s.whatsapp.net' }, byPhone('5511999990001')],
  ['an anonymous identifier', { identifier: '200000000000001@lid', phone: '+5511999990001' }, byLid('200000000000001')],
  ['a group', { identifier: '120363000000000001@g.us' }, { kind: 'group', id: '120363000000000001' }],
  ['an old group', { identifier: '5511999990001-1500000000@g.us' }, { kind: 'group', id: '5511999990001-1500000000' }],
  [
    'the phone where the identifier is something else',
    { identifier: 'crm-77', phone: '+55 11 99999-0001' },
    byPhone('5511999990001'),
  ],
  [
    'the phone of somebody with a mail address',
    { identifier: 'a@b.example', phone: '+5511999990001' },
    byPhone('5511999990001'),
  ],
  [
    'our own source id before the contact, which may be another one since a merge',
    { sourceId: '5511999990001', identifier: '5511999990002@s.whatsapp.net', phone: '+5511999990002' },
    byPhone('5511999990001'),
  ],
  [
    'the contact where an agent began the conversation',
    { sourceId: '0b3c1f62-6a0e-4f0a-9a35-b1a9d7f7a4c1', phone: '+5511999990001' },
    byPhone('5511999990001'),
  ],
  ['our own source id', { sourceId: '5511999990001' }, byPhone('5511999990001')],
  ['our own source id of an anonymous person', { sourceId: 'lid-200000000000001' }, byLid('200000000000001')],
  [
    'our own source id of a group',
    { sourceId: 'group-120363000000000001' },
    { kind: 'group', id: '120363000000000001' },
  ],
  [
    'nobody by the random id of a contact made at the helpdesk',
    { sourceId: '0b3c1f62-6a0e-4f0a-9a35-b1a9d7f7a4c1' },
    undefined,
  ],
  ['nobody by a phone that is none', { phone: '+1' }, undefined],
  ['nobody by a broadcast', { identifier: 'status@broadcast' }, undefined],
  ['nobody', {}, undefined],
]

for (const [what, recipient, chat] of rows) {
  test(`${what}: ${JSON.stringify(recipient)}`, () => {
    assert.deepEqual(recipientChat({ ...nobody, ...recipient }), chat)
  })
}
