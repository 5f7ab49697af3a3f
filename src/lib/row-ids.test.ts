import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRowIds, msAfter } from './row-ids.ts'

test('ids sort in the order of creation, also when the clock stands still or goes back', () => {
  let now = Date.UTC(2026, 0, 1)
  const nextId = createRowIds({ now: () => now })
  const ids = [nextId(), nextId()]
  now += 1
  ids.push(nextId())
  now -= 5000
  for (let n = 0; n < 2000; n++) ids.push(nextId())
  now += 60_000
  ids.push(nextId())
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(new Set(ids).size, ids.length)
})

test('more ids than fit into a millisecond still sort', () => {
  const nextId = createRowIds({ now: () => 1_000 })
  let last = ''
  for (let n = 0; n < 36 ** 4 + 10; n++) {
    const id = nextId()
    if (id <= last) assert.fail(`${id} after ${last}`)
    last = id
  }
})

test('ids of the next process sort after an id of a clock that was ahead', () => {
  const now = Date.UTC(2026, 0, 1)
  const stored = createRowIds({ now: () => now + 3_600_000 })()
  const floor = msAfter(stored)
  const nextId = createRowIds({ now: () => Math.max(now, floor) })
  const ids = [stored, nextId(), nextId()]
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(msAfter('a text that is no id'), 0)
})
