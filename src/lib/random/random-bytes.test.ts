import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawRandomBytes } from './random-bytes.ts'

test('no bytes are drawn twice, and none are empty', () => {
  const drawn = Array.from({ length: 2000 }, () => drawRandomBytes(12))
  assert.ok(drawn.every((bytes) => bytes.length === 12 && bytes.some((byte) => byte !== 0)))
  assert.equal(new Set(drawn.map((bytes) => bytes.toString('hex'))).size, 2000)
})

test('bytes that were drawn stay as they are', () => {
  const first = drawRandomBytes(32)
  const before = first.toString('hex')
  for (let n = 0; n < 300; n++) drawRandomBytes(32).fill(0)
  assert.equal(first.toString('hex'), before)
})

test('more bytes than are drawn at once are refused', () => {
  assert.throws(() => drawRandomBytes(4097), RangeError)
})

test('bytes that are kept keep no other memory', () => {
  const bytes = drawRandomBytes(32)
  assert.equal(bytes.buffer.byteLength, bytes.length)
})
