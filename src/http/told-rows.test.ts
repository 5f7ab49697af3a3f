import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferTold } from './told-rows.ts'

type Row = { name: string; qr: { available: boolean } | null; attempts: number }

const stored: Row = { name: 'a', qr: { available: false }, attempts: 0 }
const told: Row = { name: 'a', qr: { available: true }, attempts: 3 }
const show = (...answers: unknown[]) => preferTold<Row>(answers, ({ name }) => name)(stored)

test('the row that its node tells is shown', () => {
  const other = { ...told, name: 'b' }
  assert.deepEqual(show({ rows: [other] }, { rows: [told] }), told)
  const withoutCode = { ...told, qr: null }
  assert.deepEqual(show({ rows: [withoutCode] }), withoutCode)
})

test('what no node tells is shown as it is stored', () => {
  assert.deepEqual(show(), stored)
  assert.deepEqual(show({ rows: [{ ...told, name: 'b' }] }), stored)
})

test('a row that lacks a field, or a field within it, and nonsense are not shown', () => {
  for (const row of [{ name: 'a', qr: null }, { ...told, qr: {} }, 'a', null])
    assert.deepEqual(show({ rows: [row] }), stored)
  for (const answer of [null, {}, { rows: 'a' }, 7]) assert.deepEqual(show(answer), stored)
})
