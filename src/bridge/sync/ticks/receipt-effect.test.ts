import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectOf } from './receipt-effect.ts'

const types = ['delivered', 'read', 'played', 'read_self', 'other'] as const
const effects = (readReceipts: boolean, deliveryStatus: boolean) =>
  types.map((type) => effectOf(type, { readReceipts, deliveryStatus }))

test('the settings decide what a receipt changes', () => {
  assert.deepEqual(effects(true, true), ['delivered', 'read', 'read', 'seen', 'filtered'])
  assert.deepEqual(effects(true, false), ['filtered', 'read', 'read', 'seen', 'filtered'])
  assert.deepEqual(effects(false, true), ['delivered', 'delivered', 'delivered', 'filtered', 'filtered'])
  assert.deepEqual(effects(false, false), ['off', 'off', 'off', 'off', 'off'])
})
