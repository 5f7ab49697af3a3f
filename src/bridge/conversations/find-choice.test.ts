import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findChoice } from './find-choice.ts'

const sizes = ['Small', 'Medium size', '*Extra* Large']

test('a number names a choice, also with a dot or a bracket, as an emoji, and with zeros before it', () => {
  for (const text of ['2', ' 2 ', '2.', '2)', '(2)', '#2', '2:', '2-', '02', '002', '2️⃣', '２', '*2*', '2\n']) {
    assert.equal(findChoice(text, sizes), 'Medium size', JSON.stringify(text))
  }
})

test('the title names a choice in any case, with any spaces and marks, also behind its own number', () => {
  for (const text of [
    'medium size',
    ' MEDIUM   SIZE ',
    'Medium\nsize',
    '*Medium* size',
    '2. Medium size',
    '2) medium size',
  ]) {
    assert.equal(findChoice(text, sizes), 'Medium size', JSON.stringify(text))
  }
  assert.equal(findChoice('extra large', sizes), '*Extra* Large')
})

test('every other text names none', () => {
  const texts = [
    '',
    ' ',
    '0',
    '4',
    '1000',
    '0002',
    '-2',
    '2 pizzas',
    '2, please',
    '2.5',
    '1 2',
    '1. Medium size',
    'medium',
    'no',
    'ok 2',
  ]
  for (const text of texts) {
    assert.equal(findChoice(text, sizes), undefined, JSON.stringify(text))
  }
  assert.equal(findChoice('1', []), undefined)
})

test('a choice that is called like the number of another one is named by its title', () => {
  assert.equal(findChoice('1', ['3', '2', '1']), '1')
  assert.equal(findChoice('10', ['10', '20']), '10')
  assert.equal(findChoice('2', ['10', '20']), '20')
})

test('a title that two choices have names neither of them, and their numbers name both', () => {
  assert.equal(findChoice('buy', ['Buy', 'buy', 'Ask']), undefined)
  assert.equal(findChoice('2', ['Buy', 'buy', 'Ask']), 'buy')
})

test('every choice is found by its number and, if no other has the same title, by its title', () => {
  const title = fc.stringMatching(/^[a-z]{1,6}( [a-z0-9]{1,6})?$/)
  fc.assert(
    fc.property(fc.uniqueArray(title, { minLength: 1, maxLength: 30 }), (titles) => {
      for (const [index, each] of titles.entries()) {
        assert.equal(findChoice(String(index + 1), titles), each)
        assert.equal(findChoice(each.toUpperCase(), titles), each)
        assert.equal(findChoice(`${index + 1}. ${each}`, titles), each)
      }
    }),
  )
})
