// Checks that a history is split into the same parts however its bytes come, and that damaged bytes only give a HistoryError.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proto } from '../library/library.ts'
import { HistoryError } from './history-error.ts'
import { HistoryParser } from './history-parser.ts'
import type { HistoryPart } from './history-parser.ts'

const chat = '5511888880001@s.whatsapp.net'
const message = (id: string, text = 'hello') => ({
  message: { key: { remoteJid: chat, id, fromMe: false }, message: { conversation: text }, messageTimestamp: 1 },
})
const encode = (sync: Partial<proto.IHistorySync>) =>
  Buffer.from(proto.HistorySync.encode({ syncType: proto.HistorySync.HistorySyncType.RECENT, ...sync }).finish())
const whole = encode({
  progress: 50,
  statusV3Messages: [message('S1').message],
  conversations: [
    {
      id: chat,
      messages: [message('A1'), message('A2', 'x'.repeat(300))],
      name: 'Bob',
      participant: [{ userJid: chat }],
    },
    { id: '5511888880002@s.whatsapp.net', messages: [], pnJid: chat },
    {},
  ],
  phoneNumberToLidMappings: [{ pnJid: chat, lidJid: '900001@lid' }],
})

function partsOf(bytes: Buffer, sizes: readonly number[]): HistoryPart[] {
  const parser = new HistoryParser()
  const parts: HistoryPart[] = []
  let at = 0
  for (const size of [...sizes, bytes.length]) {
    for (const part of parser.read(bytes.subarray(at, at + size))) parts.push(part)
    at += size
  }
  parser.end()
  return parts
}

test('a history is split into chats, messages and other fields, without members and status updates', () => {
  const parts = partsOf(whole, [])
  assert.deepEqual(
    parts.map(({ type }) => type),
    [
      'field',
      ...['chat', 'chat field', 'message', 'message', 'chat field', 'chat end'],
      ...['chat', 'chat field', 'chat field', 'chat end'],
      ...['chat', 'chat end'],
      ...['field', 'field'],
    ],
  )
  const messages = parts.flatMap((part) => (part.type === 'message' ? [proto.HistorySyncMsg.decode(part.bytes)] : []))
  assert.deepEqual(
    messages.map((one) => one.message?.key?.id),
    ['A1', 'A2'],
  )
})

test('the parts do not depend on how the bytes come', () => {
  const expected = partsOf(whole, [])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), (sizes) => {
      assert.deepEqual(partsOf(whole, sizes), expected)
    }),
  )
  assert.deepEqual(
    partsOf(
      whole,
      Array.from(whole, () => 1),
    ),
    expected,
  )
})

test('a message that is too large is skipped, and the next one is read', () => {
  const large = encode({
    conversations: [{ id: chat, messages: [message('L', 'x'.repeat(9_000_000)), message('A1')] }],
  })
  const sizes = Array.from({ length: 150 }, () => 65_536)
  assert.deepEqual(
    partsOf(large, sizes).map(({ type }) => type),
    ['field', 'chat', 'chat field', 'too large', 'message', 'chat end'],
  )
})

test('a history that ends too early, or whose field is longer than its chat, is damaged', () => {
  for (const length of [1, 5, 20, whole.length - 1]) {
    assert.throws(() => partsOf(whole.subarray(0, length), []), HistoryError)
  }
  assert.throws(() => partsOf(Buffer.from([0x12, 0x02, 0x12, 0x05]), []), /longer than its chat/)
  assert.throws(() => partsOf(Buffer.from([0x0b]), []), /cannot be read/)
  assert.throws(() => partsOf(Buffer.alloc(20, 0xff), []), /cannot be read/)
})

test('bytes of any kind end, or fail with a HistoryError', () => {
  const damaged = fc
    .tuple(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }))
    .map(([at, byte]) => {
      const bytes = Buffer.from(whole)
      bytes[at] = byte
      return bytes
    })
  const foreign = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.oneof(damaged, foreign), fc.array(fc.integer({ min: 1, max: 30 })), (bytes, sizes) => {
      try {
        partsOf(bytes, sizes)
      } catch (error) {
        assert.ok(error instanceof HistoryError, String(error))
      }
    }),
    { numRuns: 2_000 },
  )
})
