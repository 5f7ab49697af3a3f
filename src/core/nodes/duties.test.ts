import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dutiesOf } from '../../../test/harness/duties.ts'
import { holdOf, nodeHold } from '../../../test/harness/holds.ts'
import { heldAndDeletedRows, heldRows, holdOfDeletedToo, shareOf } from './duties.ts'
import { NotHeldError } from './hold.ts'

const first = dutiesOf(['a'], { isFirst: () => true })
const second = dutiesOf(['a'])

test('a node reads the rows of its instances, and the first node also those of deleted ones', () => {
  assert.deepEqual(heldRows(first), { held: ['a'], withDeleted: false })
  assert.deepEqual(heldAndDeletedRows(first), { held: ['a'], withDeleted: true })
  assert.deepEqual(heldAndDeletedRows(second), { held: ['a'], withDeleted: false })
  assert.equal(heldRows({ held: () => 'all' }), 'all')
})

test('a node that does not hold an instance has the right to what a deleted one left', () => {
  const holds = {
    holdOf: (instance: string) => {
      if (instance !== 'a') throw new NotHeldError(instance)
      return holdOf(instance)
    },
    nodeHold,
  }
  assert.deepEqual(holdOfDeletedToo(holds, first)('a'), holdOf('a'))
  assert.deepEqual(holdOfDeletedToo(holds, first)('b'), { instance: 'b', ...nodeHold(), isDeleted: true })
  assert.deepEqual(holdOfDeletedToo(holds, second)('b'), { instance: 'b', ...nodeHold(), isDeleted: true })
})

test('the parts of a limit are never 0, and together not less than the limit', () => {
  const shares = [1, 2, 3, 20].map((count) => shareOf(16, { sharers: () => count }))
  assert.deepEqual(shares, [16, 8, 6, 1])
})
