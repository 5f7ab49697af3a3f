import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inQueueOrder } from './queue-order.ts'

type Row = Parameters<typeof inQueueOrder>[0][number]

let created = 0

function message(messageId: number | null, more: Partial<Row> = {}): Row {
  const id = String(created++).padStart(8, '0')
  return { id, kind: 'message', chatId: 'bob', destination: 'd', conversationId: 1, messageId, ...more }
}

const revoke = (chatId = 'bob') => message(null, { kind: 'revoke', chatId, conversationId: null })
const idsOf = (rows: readonly Row[]) => inQueueOrder(rows).map(({ messageId }) => messageId)

test('the messages of a conversation are queued in the order in which they were written', () => {
  assert.deepEqual(idsOf([5, 3, 9, 10, 4].map((id) => message(id))), [3, 4, 5, 9, 10])
})

test('messages of another conversation with the same person keep their places', () => {
  const other = { conversationId: 2 }
  assert.deepEqual(idsOf([message(5), message(9, other), message(4), message(6, other)]), [4, 6, 5, 9])
})

test('conversations of two helpdesks that have the same number are not mixed', () => {
  assert.deepEqual(idsOf([message(5), message(3, { destination: 'other' })]), [5, 3])
})

test('a row without a message id keeps its place', () => {
  assert.deepEqual(idsOf([message(5), message(null), message(4)]), [4, null, 5])
})

test('no message changes places across a revoke of its chat', () => {
  assert.deepEqual(idsOf([message(5), revoke(), message(4), message(3)]), [5, null, 3, 4])
  assert.deepEqual(idsOf([message(5), revoke('maria'), message(4)]), [4, null, 5])
})
