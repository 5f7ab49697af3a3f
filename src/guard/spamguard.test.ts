import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isWithinWindow, normaliseForSpamguard, spamguardWindowMs } from './spamguard.ts'

test('the previous message counts within the window only', () => {
  fc.assert(
    fc.property(fc.nat(120_000), (age) => {
      assert.equal(isWithinWindow(1_000_000, 1_000_000 + age), age < spamguardWindowMs)
    }),
  )
})

test('a previous message that a wrong clock dated an hour ahead does not count', () => {
  assert.equal(isWithinWindow(4_600_000, 1_000_000), false)
  assert.equal(isWithinWindow(1_000_100, 1_000_000), true, 'clocks are not exact')
})

test('normalising twice changes nothing more', () => {
  fc.assert(
    fc.property(
      fc.string(),
      (text) => normaliseForSpamguard(normaliseForSpamguard(text)) === normaliseForSpamguard(text),
    ),
  )
})
