// Checks which events the messages of a history become.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proto } from '../library/library.ts'
import { readPastMessage } from './past-message.ts'

const own = { phone: '5511999990001', lid: '700001' }
const bob = '5511888880001@s.whatsapp.net'
const group = '120363000000000001@g.us'
const at = 1_772_000_000
const { Type } = proto.Message.ProtocolMessage
const { StubType } = proto.WebMessageInfo

type Given = Partial<proto.IWebMessageInfo> & { msgOrderId?: number; chatJid?: string; since?: number }

function read({ msgOrderId, chatJid = bob, since = 0, ...info }: Given) {
  const message = { key: { remoteJid: chatJid, id: 'A1', fromMe: false }, messageTimestamp: at, ...info }
  const bytes = proto.HistorySyncMsg.encode({ message, ...(msgOrderId !== undefined && { msgOrderId }) }).finish()
  return readPastMessage(bytes, { chatJid, index: 4, since, own: { ...own } })
}

const hello = { message: { conversation: 'hello' } }

test('a message has the envelope of a live one, and the place that the phone counts', () => {
  const { events, anchor } = read({ ...hello, pushName: 'Bob', msgOrderId: 77 })
  const [first] = events
  const sender = { phone: '5511888880001', lid: null }
  assert.deepEqual(first?.event, {
    ...{ id: 'A1', at: at * 1000, chat: { kind: 'person', ...sender }, sender, fromMe: false, pushName: 'Bob' },
    ...{ address: { chat: bob, participant: null }, kind: 'message', content: { type: 'text', text: 'hello' } },
    ...{ quote: null, mentions: [], ad: null, secret: null },
  })
  assert.equal(first.position, 77)
  assert.deepEqual(anchor, { key: { chat: bob, id: 'A1', fromMe: false, participant: null }, at: at * 1000 })
})

test('without a place of the phone, the order of the file counts: the newest message comes first', () => {
  assert.equal(read(hello).events[0]?.position, -4)
})

test('an own message in a group has the owner as its author, also when the phone leaves the author out', () => {
  const { events, anchor } = read({ chatJid: group, key: { remoteJid: group, id: 'A1', fromMe: true }, ...hello })
  assert.deepEqual(events[0]?.event.sender, own)
  assert.equal(anchor?.key.participant, '5511999990001@s.whatsapp.net')
})

test('the author in a group may stand beside the key', () => {
  const { events } = read({ chatJid: group, participant: '900001@lid', ...hello })
  assert.deepEqual(events[0]?.event.sender, { phone: null, lid: '900001' })
  assert.deepEqual(events[0].event.address, { chat: group, participant: '900001@lid' })
})

test('an edit of another message is an edit, and an edit of itself is the message with its last content', () => {
  const edit = (id: string) => ({
    message: {
      protocolMessage: { type: Type.MESSAGE_EDIT, key: { id, fromMe: false }, editedMessage: { conversation: 'new' } },
    },
  })
  const [other] = read(edit('A0')).events
  assert.ok(other?.event.kind === 'edit')
  assert.deepEqual(other.event.target, { chat: bob, id: 'A0', fromMe: false, participant: null })
  const [itself] = read(edit('A1')).events
  assert.ok(itself?.event.kind === 'message')
  assert.deepEqual(itself.event.content, { type: 'text', text: 'new' })
})

test('a deleted message is a revoke, as a message of the protocol and as a stub', () => {
  const [told] = read({ message: { protocolMessage: { type: Type.REVOKE, key: { id: 'A0', fromMe: true } } } }).events
  assert.ok(told?.event.kind === 'revoke')
  assert.equal(told.event.target.id, 'A0')
  const [stub] = read({ messageStubType: StubType.REVOKE, revokeMessageTimestamp: at + 9 }).events
  assert.ok(stub?.event.kind === 'revoke')
  assert.deepEqual([stub.event.target.id, stub.event.at], ['A1', (at + 9) * 1000])
})

test('reactions inside a message become events with their own ids, after the message', () => {
  const reactions = [
    { key: { id: 'R1', fromMe: true }, text: '👍', senderTimestampMs: at * 1000 + 5_000 },
    { key: { id: 'R2', fromMe: false }, text: '🎉', senderTimestampMs: 5 },
    { key: { id: 'R3', fromMe: false }, text: '' },
  ]
  const { events } = read({ ...hello, reactions })
  const found = events.slice(1).map(({ event }) => event)
  assert.deepEqual(
    found.map((event) => [event.id, event.kind, event.fromMe, event.at, event.kind === 'reaction' && event.emoji]),
    [
      ['R1', 'reaction', true, at * 1000 + 5_000, '👍'],
      ['R2', 'reaction', false, at * 1000 + 1, '🎉'],
    ],
  )
})

test('notices of the phone, protocol messages, messages without a chat and old messages are left out', () => {
  assert.deepEqual(read({ messageStubType: StubType.GROUP_PARTICIPANT_ADD }), { events: [], anchor: null })
  assert.deepEqual(read({ message: { protocolMessage: { type: Type.APP_STATE_SYNC_KEY_SHARE } } }).events, [])
  assert.deepEqual(
    read({ message: { protocolMessage: { type: Type.EPHEMERAL_SETTING, ephemeralExpiration: 86_400 } } }).events,
    [],
  )
  assert.deepEqual(read({ chatJid: 'status@broadcast', ...hello }), { events: [], anchor: null })
  const old = read({ ...hello, since: (at + 1) * 1000 })
  assert.deepEqual(old.events, [])
  assert.equal(old.anchor?.key.id, 'A1')
})

test('the secret beside a message opens later votes', () => {
  const [first] = read({ ...hello, messageSecret: Buffer.from('secret') }).events
  assert.ok(first?.event.kind === 'message')
  assert.equal(first.event.secret, Buffer.from('secret').toString('base64'))
})

test('bytes of any kind never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      readPastMessage(bytes, { chatJid: bob, index: 0, since: 0, own })
    }),
    { numRuns: 1_000 },
  )
})
