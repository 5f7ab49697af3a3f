import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BinaryNode } from '../library/library.ts'
import { changesOf } from './group-changes.ts'

const bob = { phone: '5511888880001', lid: '2' }
const eve = { phone: '5511777770001', lid: '3' }
const participant = ({ phone, lid }: typeof bob): BinaryNode => ({
  tag: 'participant',
  attrs: { jid: `${lid}@lid`, phone_number: `${phone}@s.whatsapp.net` },
})
const changeOf = (tag: string, content: BinaryNode[], attrs: Record<string, string> = {}) =>
  changesOf({ tag: 'notification', attrs: {}, content: [{ tag, attrs, content }] }, bob)

test('a description is read as a text, in either form of the wire', () => {
  for (const content of ['bring cake', Buffer.from('bring cake')]) {
    const body = { tag: 'body', attrs: {}, content }
    assert.deepEqual(changeOf('description', [body]), [{ change: 'description', description: 'bring cake' }])
  }
  assert.deepEqual(changeOf('description', []), [{ change: 'description', description: '' }])
})

test('a person who comes or goes alone joins or leaves; others are added or removed', () => {
  assert.deepEqual(changeOf('add', [participant(bob)]), [{ change: 'join', people: [bob] }])
  assert.deepEqual(changeOf('add', [participant(eve)]), [{ change: 'add', people: [eve] }])
  assert.deepEqual(changeOf('add', [participant(eve)], { reason: 'invite' }), [{ change: 'join', people: [eve] }])
  assert.deepEqual(changeOf('remove', [participant(bob)]), [{ change: 'leave', people: [bob] }])
  assert.deepEqual(changeOf('remove', [participant(bob), participant(eve)]), [{ change: 'remove', people: [bob, eve] }])
})
