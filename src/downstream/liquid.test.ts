import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { breakUpLiquid } from './liquid.ts'

const text = fc.string({ unit: fc.constantFrom('{', '%', '}', 'a') })

test('Liquid never survives in what the owner wrote', () => {
  fc.assert(
    fc.property(text, (written) => {
      const broken = breakUpLiquid(written)
      assert.ok(!broken.includes('{{') && !broken.includes('{%'))
      assert.equal(broken.replaceAll('\u200b', ''), written)
    }),
  )
})

test('a text becomes at most twice as long', () => {
  fc.assert(
    fc.property(text, (written) => {
      assert.ok(breakUpLiquid(written).length <= 2 * written.length)
    }),
  )
})
