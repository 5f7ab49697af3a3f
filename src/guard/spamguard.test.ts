import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fingerprintOf, isRepeated, normaliseForSpamguard, spamguardMinChars, spamguardWindowMs } from './spamguard.ts'

test('case, spaces and marks make no other message', () => {
  const same = ['Hello   World, dear', ' *hello* world, dear ', '~hello~\nworld, `dear`', '_HELLO_ world,\tdear']
  assert.equal(new Set(same.map((text) => fingerprintOf(text, []))).size, 1)
  assert.notEqual(fingerprintOf('hello world, dear', []), fingerprintOf('hello world, deer', []))
})

test('other files make another message', () => {
  const file = (fileName: string) => [{ fileName, size: 10 }]
  assert.notEqual(fingerprintOf('the same caption', file('a.jpg')), fingerprintOf('the same caption', file('b.jpg')))
  assert.equal(fingerprintOf('the same caption', file('a.jpg')), fingerprintOf('the same caption', file('a.jpg')))
})

test('short messages are never held back', () => {
  assert.equal(fingerprintOf('*ok* ok ok', []), null)
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      const isShort = Array.from(normaliseForSpamguard(text)).length < spamguardMinChars
      assert.equal(fingerprintOf(text, []) === null, isShort)
    }),
  )
})

test('the previous message counts within the window only', () => {
  const print = fingerprintOf('long enough to be judged', [])
  assert.equal(isRepeated(print, undefined, 0), false)
  fc.assert(
    fc.property(fc.nat(120_000), fc.boolean(), (age, isSame) => {
      const previous = { fingerprint: isSame ? print : 'other', at: 1_000_000 }
      assert.equal(isRepeated(print, previous, 1_000_000 + age), isSame && age < spamguardWindowMs)
    }),
  )
})

test('a previous message that a wrong clock dated an hour ahead does not count', () => {
  const print = fingerprintOf('long enough to be judged', [])
  assert.equal(isRepeated(print, { fingerprint: print, at: 4_600_000 }, 1_000_000), false)
  assert.equal(isRepeated(print, { fingerprint: print, at: 1_000_100 }, 1_000_000), true, 'clocks are not exact')
})

test('normalising twice changes nothing more', () => {
  fc.assert(
    fc.property(
      fc.string(),
      (text) => normaliseForSpamguard(normaliseForSpamguard(text)) === normaliseForSpamguard(text),
    ),
  )
})
