import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MergedKeys } from './merged-keys.ts'

test('a dropped key leads to the key that was kept last, and never in a circle', () => {
  const merged = new MergedKeys()
  assert.equal(merged.currentOf('a'), 'a')
  merged.merge('b', 'a')
  merged.merge('c', 'b')
  merged.merge('b', 'd')
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => merged.currentOf(key)),
    ['c', 'c', 'c', 'c'],
  )
  merged.merge('a', 'c')
  assert.equal(merged.currentOf('c'), 'c')
})
