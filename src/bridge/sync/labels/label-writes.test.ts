// What the service notices of changes that its own write has undone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../lib/clock.ts'
import { LabelWrites } from './label-writes.ts'

const at = { destination: 'd', conversationId: 7 }

function hear(writes: LabelWrites, before: string[], after: string[]): void {
  writes.heard({ ...at, instance: 'shop', chat: 'p1', before, after })
}

test('a write that undid nothing leaves nothing to restore', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a'], ['a', 'b'])
  hear(writes, ['a'], ['b', 'a'])
  hear(writes, ['a', 'b'], ['a'])
  assert.deepEqual(writes.restored(at, ['a']), ['a'])
})

test('a callback that the helpdesk repeats does not undo what an agent changed since', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a'], ['a', 'b'])
  hear(writes, ['a', 'x'], ['a', 'b'])
  writes.settled(at, null)
  hear(writes, ['a', 'x'], ['a', 'b'])
  assert.deepEqual(writes.restored(at, ['a']), ['a'])
})

test('a label that an agent set or removed before our write is known as undone until it is restored', () => {
  const writes = new LabelWrites({ clock: systemClock })
  writes.begin(at, ['a', 'c'], ['a', 'b', 'c'])
  hear(writes, ['c', 'x'], ['a', 'b', 'c'])
  assert.deepEqual(writes.restored(at, ['a', 'b', 'c']), ['b', 'c', 'x'])
  assert.deepEqual(writes.restored({ ...at, conversationId: 8 }, ['a']), ['a'])
  writes.settled(at, writes.begin(at, ['a', 'b', 'c'], ['b', 'c', 'x']))
  assert.deepEqual(writes.restored(at, ['a', 'b', 'c']), ['a', 'b', 'c'])
})

test('what a write has undone stays known when its callback comes before its answer', () => {
  const writes = new LabelWrites({ clock: systemClock })
  const write = writes.begin(at, ['a'], ['a', 'b'])
  hear(writes, ['x'], ['a', 'b'])
  writes.settled(at, write)
  assert.deepEqual(writes.restored(at, ['a', 'b']), ['b', 'x'])
  // An agent has made the change again, so there is nothing to write.
  writes.settled(at, null)
  assert.deepEqual(writes.restored(at, ['a', 'b']), ['a', 'b'])
})
