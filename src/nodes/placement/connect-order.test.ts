import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectOrder } from './connect-order.ts'

const names = Array.from({ length: 50 }, (_, index) => `i${index}`)

test('instances with waiting messages connect first', () => {
  const waiting = new Set(['i7', 'i30', 'i49'])
  const order = connectOrder(names, (instance) => waiting.has(instance))
  assert.deepEqual(new Set(order.slice(0, 3)), waiting)
  assert.deepEqual(new Set(order), new Set(names))
})

test('the order of the others is drawn', () => {
  let seed = 1
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const first = connectOrder(names, () => false, random)
  const second = connectOrder(names, () => false, random)
  assert.notDeepEqual(first, names)
  assert.notDeepEqual(first, second)
})
