// The fields of an encoded protobuf are read without its schema, and damaged bytes end the reading.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeVarint, wireFields } from './wire-fields.ts'

const read = (hex: string) =>
  [...wireFields(Buffer.from(hex, 'hex'))].map(({ number, whole, value }) => [
    number,
    Buffer.from(whole).toString('hex'),
    value && Buffer.from(value).toString(),
  ])

test('numbers, texts and fixed values are told apart', () => {
  // Field 1 = 300, field 2 = "hi", field 3 = 8 bytes, field 19 = "salt", field 5 = 4 bytes.
  assert.deepEqual(read('08ac02' + '12026869' + '190102030405060708' + '9a010473616c74' + '2d01020304'), [
    [1, '08ac02', undefined],
    [2, '12026869', 'hi'],
    [3, '190102030405060708', undefined],
    [19, '9a010473616c74', 'salt'],
    [5, '2d01020304', undefined],
  ])
})

test('bytes that end too early, or have an unknown type, end the reading', () => {
  const good = [[2, '12026869', 'hi']]
  for (const rest of ['12', '1205ab', '08ff', '1901', '0b', '08' + 'ff'.repeat(11)]) {
    assert.deepEqual(read(`12026869${rest}`), good, rest)
  }
})

test('numbers are encoded as they are read', () => {
  for (const [value, hex] of [
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
  ] as const) {
    assert.equal(Buffer.from(encodeVarint(value)).toString('hex'), hex)
  }
})
