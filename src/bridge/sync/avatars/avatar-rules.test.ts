import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshForMs, isOurs } from './avatar-rules.ts'

const known = { thumbnail: 'https://desk/rails/x1/whatsapp-1.jpg', fileName: 'whatsapp-1.jpg' }

test('a picture is ours by its address or by its file name', () => {
  assert.ok(isOurs('https://desk/rails/x1/whatsapp-1.jpg', known))
  assert.ok(isOurs('https://other/rails/x2/whatsapp-1.jpg?a=/b#c', known))
  assert.ok(isOurs('https://desk/old', { thumbnail: 'https://desk/old', fileName: null }))
})

test('every other picture is the agent’s', () => {
  assert.equal(isOurs('https://desk/rails/x1/portrait.jpg', known), false)
  assert.equal(isOurs('https://desk/rails/whatsapp-1.jpg/portrait.jpg', known), false)
  assert.equal(isOurs('https://desk/rails/x1/', { thumbnail: null, fileName: null }), false)
  assert.equal(isOurs('https://desk/rails/x1/whatsapp-1.jpg', undefined), false)
})

test('a picture is fresh until the time is over, and not when its time lies in the future', () => {
  assert.equal(freshForMs(1_000, 1_400, 1_000), 600)
  assert.equal(freshForMs(1_000, 2_000, 1_000), 0)
  assert.equal(freshForMs(1_000, 9_000, 1_000), 0)
  assert.equal(freshForMs(2_000, 1_000, 1_000), 1_000)
  assert.equal(freshForMs(1_000_000, 1_000, 1_000), 0)
})
