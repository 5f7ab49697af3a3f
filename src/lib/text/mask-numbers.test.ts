import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maskAllNumbers, maskNumbers } from './mask-numbers.ts'

test('of a number the last two digits are left', () => {
  assert.equal(maskNumbers('to 5511988880001@s.whatsapp.net'), 'to …01@s.whatsapp.net')
  assert.equal(maskNumbers('120363000000000042@g.us'), '…42@g.us')
  assert.equal(maskNumbers('+55 (11) 98888-0001 writes'), '…01 writes')
})

test('times, addresses, ports and small numbers stay', () => {
  for (const text of [
    '2026-11-17T08:15:30.123Z',
    'http://192.168.100.12:3100/api',
    'Chatwoot 4.14.1',
    '+00:00',
    '413',
  ]) {
    assert.equal(maskNumbers(text), text)
  }
})

test('no seven digits in a row are left, wherever the text is', () => {
  const text = fc.stringMatching(/^[0-9+ ()a-z@.-]{0,60}$/)
  fc.assert(
    fc.property(text, text, (name, value) => {
      const masked = JSON.stringify(maskAllNumbers({ [name]: [value, { inner: value }] }))
      assert.doesNotMatch(masked, /\d{7}/)
    }),
  )
})

test('numbers and empty values stay what they are', () => {
  const value = { at: 1763337600000, none: null, yes: true }
  assert.deepEqual(maskAllNumbers(value), value)
})
