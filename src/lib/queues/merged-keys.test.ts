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

test('a key that was dropped many merges ago is forgotten', () => {
  const merged = new MergedKeys(3)
  for (const n of [1, 2, 3]) merged.merge('keep', `drop ${n}`)
  // Dropped once more, and therefore not the oldest one.
  merged.merge('keep', 'drop 1')
  merged.merge('keep', 'drop 4')
  const current = [1, 2, 3, 4].map((n) => merged.currentOf(`drop ${n}`))
  assert.deepEqual(current, ['keep', 'drop 2', 'keep', 'keep'])
})
