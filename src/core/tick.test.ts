import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highestTick, isHigher, lowestTick } from './tick.ts'

test('read is higher than delivered, and delivered is higher than sent', () => {
  const order = [null, 'delivered', 'read'] as const
  const pairs = order.flatMap((one, a) => order.map((other, b) => [isHigher(one, other), a > b] as const))
  for (const [found, expected] of pairs) assert.equal(found, expected)
})

test('a message of several parts has come as far as its last part', () => {
  assert.equal(lowestTick(['read', 'delivered', 'read']), 'delivered')
  assert.equal(lowestTick(['read', null]), null)
  assert.equal(lowestTick([null, 'read']), null)
  assert.equal(lowestTick(['read', 'read']), 'read')
  assert.equal(lowestTick([]), null)
})

test('the highest tick is the one that was shown last', () => {
  assert.equal(highestTick(['delivered', null]), 'delivered')
  assert.equal(highestTick(['delivered', 'read']), 'read')
  assert.equal(highestTick([null]), null)
})
