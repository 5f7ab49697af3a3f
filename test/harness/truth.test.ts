import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mistakesIn, noMistakes } from './truth.ts'
import type { WrittenMessage } from './truth.ts'

const ids = (...names: string[]): WrittenMessage[] => names.map((id) => ({ id }))

test('a chat in which every message arrived once and in order has no mistakes', () => {
  const mistakes = mistakesIn([{ written: ids('a', 'b', 'c'), received: ['a', 'b', 'c'] }])
  assert.deepEqual(mistakes, noMistakes)
})

test('each kind of mistake is found, in the chat where it happened', () => {
  const failed = { isFailed: true }
  const mistakes = mistakesIn([
    { written: ids('a', 'b', 'c', 'd'), received: ['a', 'c', 'b', 'b'] },
    { written: [{ id: 'e', ...failed }, ...ids('f'), { id: 'g', ...failed }], received: ['e', 'f', 'a'] },
  ])
  assert.deepEqual(mistakes, {
    lost: ['d', 'g'],
    doubled: ['b'],
    misplaced: ['a'],
    outOfOrder: ['b'],
    falselyFailed: ['e'],
    falselySent: ['d'],
  })
})

test('every message that a later one overtook is out of order', () => {
  const { outOfOrder } = mistakesIn([{ written: ids('a', 'b', 'c'), received: ['c', 'a', 'b'] }])
  assert.deepEqual(outOfOrder, ['a', 'b'])
})

test('a message that was retried may come later', () => {
  const written = [{ id: 'a', isRetried: true }, ...ids('b', 'c')]
  assert.deepEqual(mistakesIn([{ written, received: ['b', 'c', 'a'] }]), noMistakes)
  assert.deepEqual(mistakesIn([{ written, received: ['c', 'b', 'a'] }]).outOfOrder, ['b'])
})

test('a message that is excused is not out of order', () => {
  const chats = [{ written: ids('a', 'b', 'c'), received: ['c', 'b', 'a'] }]
  const { outOfOrder } = mistakesIn(chats, (_, overtakenBy) => overtakenBy.every((each) => each === 'c'))
  assert.deepEqual(outOfOrder, ['a'])
})
