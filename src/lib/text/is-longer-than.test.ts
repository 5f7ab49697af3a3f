import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLongerThan } from './is-longer-than.ts'

test('a text is as long as its characters, and an emoji is one of them', () => {
  assert.deepEqual(
    ['', 'abc', 'abcd', '👍👍👍', '👍👍👍a', '👍👍👍👍', 'abcdefg'].map((text) => isLongerThan(3, text)),
    [false, false, true, false, true, true, true],
  )
})
