import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phoneVariants } from './phone-variants.ts'

const rows: [country: string, phone: string, other: string | null][] = [
  ['Brazil, mobile with the 9', '5511987654321', '551187654321'],
  ['Brazil, mobile without it', '551187654321', '5511987654321'],
  ['Brazil, landline', '551133334444', null],
  ['Brazil, landline beginning with 2', '552122334455', null],
  ['Mexico, with the 1', '5215512345678', '525512345678'],
  ['Mexico, without it', '525512345678', '5215512345678'],
  ['Argentina, with the 9', '5491112345678', '541112345678'],
  ['Argentina, without it', '541112345678', '5491112345678'],
  ['Portugal', '351912345678', null],
  ['United States', '15551234567', null],
  ['something too short', '5511', null],
]

for (const [country, phone, other] of rows) {
  test(`${country}: ${other === null ? 'one spelling' : 'two spellings'}`, () => {
    assert.deepEqual(phoneVariants(phone), other === null ? [phone] : [phone, other])
  })
}

test('every spelling knows the other one', () => {
  for (const [, phone] of rows) {
    for (const variant of phoneVariants(phone)) {
      assert.deepEqual(new Set(phoneVariants(variant)), new Set(phoneVariants(phone)), variant)
    }
  }
})
