import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandomDigits } from './random-digits.ts'

test('every text has its digits and is another one, also after the drawn bytes are used up', () => {
  const next = createRandomDigits(18)
  const texts = Array.from({ length: 1000 }, next)
  for (const text of texts) assert.match(text, /^[0-9a-f]{18}$/)
  assert.equal(new Set(texts).size, texts.length)
})
