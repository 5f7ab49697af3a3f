import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReceiptTarget } from '../../../storage/stores/messages/tick-store.ts'
import { matchReceipt } from './receipt-match.ts'

const person = { kind: 'person', phone: null, lid: '77' } as const
const group = { kind: 'group', id: '120' } as const

function row(changes: Partial<ReceiptTarget>): ReceiptTarget {
  return {
    ...{ id: 'r1', networkId: 'W1', destination: 'desk', chat: 'p1', kind: 'message', direction: 'out' },
    ...{ conversationId: 5, messageId: 6, reported: null },
    ...changes,
  }
}

async function match(
  rows: ReceiptTarget[],
  chat: typeof person | typeof group = person,
  effect: 'read' | 'seen' = 'read',
  meant?: string,
) {
  const found = await matchReceipt({ chat, effect }, rows, () => Promise.resolve(meant))
  return found.kind === 'message' ? found.row.id : found.kind
}

test('a message is found by its id, under any address of the person', async () => {
  assert.equal(await match([row({})]), 'r1')
  assert.equal(await match([row({ direction: 'echo' })]), 'r1')
  assert.equal(await match([]), 'unmapped')
})

test('a message of a group is found only in that group', async () => {
  assert.equal(await match([row({ chat: '120@g.us' })], group), 'r1')
  assert.equal(await match([row({ chat: '121@g.us' })], group), 'unmapped')
  assert.equal(await match([row({ chat: '120@g.us' })]), 'unmapped')
  assert.equal(await match([row({})], group), 'unmapped')
})

test('the chat decides between two messages with the same id', async () => {
  const twice = [row({}), row({ id: 'r2', chat: 'p2' })]
  assert.equal(await match(twice, person, 'read', 'p2'), 'r2')
  assert.equal(await match(twice), 'unmapped')
})

test('a tick is for messages of our side, and only messages of customers are read by the owner', async () => {
  assert.equal(await match([row({ direction: 'in' })]), 'unmapped')
  assert.equal(await match([row({ direction: 'in' })], person, 'seen'), 'r1')
  assert.equal(await match([row({})], person, 'seen'), 'unmapped')
})

test('reactions and notices show no status, and a message that is being posted is waited for', async () => {
  assert.equal(await match([row({ kind: 'reaction' })]), 'filtered')
  assert.equal(await match([row({ direction: 'echo', messageId: null })]), 'unposted')
  assert.equal(await match([row({ messageId: null })]), 'unposted')
  assert.equal(await match([row({ direction: 'in', messageId: null })], person, 'seen'), 'unmapped')
  assert.equal(await match([row({ kind: 'notice', messageId: 9 }), row({ id: 'r2' })]), 'r2')
})
