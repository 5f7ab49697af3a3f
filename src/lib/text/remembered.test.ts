import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remembered } from './remembered.ts'

test('a text is computed once while it is remembered, and again after too many others', () => {
  const computed: string[] = []
  const lengthOf = remembered(2, (text) => {
    computed.push(text)
    return text.length
  })
  assert.deepEqual(['a', 'bb', 'a'].map(lengthOf), [1, 2, 1])
  assert.deepEqual(computed, ['a', 'bb'])
  assert.deepEqual(['ccc', 'a'].map(lengthOf), [3, 1])
  assert.deepEqual(computed, ['a', 'bb', 'ccc', 'a'])
})

test('a failure is not remembered', () => {
  let isDown = true
  const read = remembered(2, (text) => {
    if (isDown) throw new Error('down')
    return text
  })
  assert.throws(() => read('a'))
  isDown = false
  assert.equal(read('a'), 'a')
})
