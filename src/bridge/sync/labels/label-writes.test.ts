// What the service notices of changes that its own write has undone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../lib/clock.ts'
import { LabelWrites } from './label-writes.ts'

const at = { destination: 'd', conversationId: 7 }

function heard(writes: LabelWrites, before: string[], after: string[]): boolean {
  return writes.heard({ ...at, instance: 'shop', chat: 'p1', before, after })
}

test('the callback of our own write is no news', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a'], ['a', 'b'])
  assert.equal(heard(writes, ['a'], ['b', 'a']), false)
  assert.equal(heard(writes, ['a', 'b'], ['a']), true, 'a change of an agent is')
  assert.deepEqual(writes.restored(at, ['a']), ['a'])
})

test('a label that an agent set or removed before our write is known as undone until it is restored', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a', 'c'], ['a', 'b', 'c'])
  assert.equal(heard(writes, ['c', 'x'], ['a', 'b', 'c']), true)
  assert.deepEqual(writes.restored(at, ['a', 'b', 'c']), ['b', 'c', 'x'])
  assert.deepEqual(writes.restored({ ...at, conversationId: 8 }, ['a']), ['a'])
  writes.begin(at, ['a', 'b', 'c'], ['b', 'c', 'x'])
  writes.settled(at, { isWritten: true })
  assert.deepEqual(writes.restored(at, ['a', 'b', 'c']), ['a', 'b', 'c'])
})

test('what a write has undone stays known when its callback comes before its answer', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a'], ['a', 'b'])
  assert.equal(heard(writes, ['x'], ['a', 'b']), true)
  writes.settled(at, { isWritten: true })
  assert.deepEqual(writes.restored(at, ['a', 'b']), ['b', 'x'])
  // An agent has made the change again, so there is nothing to write.
  writes.settled(at, { isWritten: false })
  assert.deepEqual(writes.restored(at, ['a', 'b']), ['a', 'b'])
})
