// The decoder never throws, and no message with content is dropped.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proto } from '../library/library.ts'
import { decodeEvent } from './event.ts'
import { readOpenedMessage } from './opened-message.ts'
import { readCard } from './vcard.ts'

const own = { phone: '5511999990001', lid: '1' }
const sender = { phone: '5511888880001', lid: '2' }
const origin = {
  envelope: { id: 'A', at: 1, chat: { kind: 'person' as const, ...sender }, sender, fromMe: false, pushName: null },
  chatJid: '5511888880001@s.whatsapp.net',
  participant: null,
}
const context = { origin, own }
const pad = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from([1])])
const eventOf = (padded: Uint8Array) => {
  const decoded = decodeEvent(readOpenedMessage(padded), context)
  return decoded && 'event' in decoded ? decoded.event : undefined
}

test('garbage is an unreadable message, not a fault', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      JSON.stringify(decodeEvent(readOpenedMessage(bytes), context))
    }),
    { numRuns: 2_000 },
  )
  const broken = eventOf(pad(Buffer.from('0a80', 'hex')))
  assert.ok(broken?.kind === 'message' && broken.content.type === 'unsupported')
  assert.equal(broken.content.name, 'unreadable')
})

/** A message with one field that holds these bytes. */
function fieldWith(number: number, content: Uint8Array): Uint8Array {
  const head: number[] = []
  for (let rest = (number << 3) | 2; ; rest >>>= 7) {
    head.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80)
    if (rest < 0x80) break
  }
  return Buffer.concat([Buffer.from(head), Buffer.from([content.length]), content])
}

test('every field of a message with any content decodes to something', () => {
  const numbers = fc.integer({ min: 1, max: 130 })
  fc.assert(
    fc.property(numbers, fc.uint8Array({ maxLength: 100 }), (number, content) => {
      JSON.stringify(decodeEvent(readOpenedMessage(pad(fieldWith(number, content))), context))
    }),
    { numRuns: 5_000 },
  )
})

test('a kind that is newer than the library is shown as such, also inside a wrapper', () => {
  const fresh = fieldWith(2_000, Buffer.from('new'))
  const event = eventOf(pad(fresh))
  assert.ok(event?.kind === 'message' && event.content.type === 'unsupported')
  assert.equal(event.content.name, 'field 2000')
  const wrapped = eventOf(pad(fieldWith(40, fieldWith(1, fresh))))
  assert.ok(wrapped?.kind === 'message' && wrapped.content.type === 'unsupported')
  assert.equal(wrapped.content.name, 'ephemeralMessage')
})

test('a message of keys alone is no event', () => {
  const keys = proto.Message.encode({ senderKeyDistributionMessage: { groupId: 'x@g.us' } }).finish()
  assert.equal(decodeEvent(readOpenedMessage(pad(keys)), context), undefined)
  assert.equal(decodeEvent(readOpenedMessage(Buffer.from([1])), context), undefined)
})

test('a deletion that names no message is shown, also when the sender leaves its type out', () => {
  for (const type of [undefined, proto.Message.ProtocolMessage.Type.REVOKE]) {
    const message = { protocolMessage: type === undefined ? {} : { type } }
    const event = eventOf(pad(proto.Message.encode(message).finish()))
    assert.ok(event?.kind === 'message' && event.content.type === 'unsupported')
    assert.equal(event.content.name, 'protocol REVOKE')
  }
})

test('endless wrappers end', () => {
  let message: proto.IMessage = { conversation: 'deep' }
  for (let depth = 0; depth < 50; depth++) message = { ephemeralMessage: { message } }
  const event = eventOf(pad(proto.Message.encode(message).finish()))
  assert.ok(event?.kind === 'message' && event.content.type === 'unsupported')
})

test('any text makes a card', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (name, vcard) => {
      assert.equal(typeof readCard(name, vcard).name, 'string')
    }),
  )
})
