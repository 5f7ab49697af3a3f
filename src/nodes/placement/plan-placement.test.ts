import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countByNode,
  freeOnes,
  heldBy,
  minute,
  noon,
  seenNode,
  viewOf,
} from '../../../test/harness/nodes/placement-views.ts'
import { inherit, planPlacement } from './plan-placement.ts'

const nodes = [seenNode('a'), seenNode('b')]

test('free instances go to the nodes with the most room', () => {
  const { place } = planPlacement(viewOf({ nodes, assignments: [...heldBy({ a: 10 }), ...freeOnes(30)] }))
  assert.deepEqual(countByNode(place), { a: 10, b: 20 })
})

test('a node with twice the capacity gets twice as many', () => {
  const unlike = [seenNode('a', { capacity: 200 }), seenNode('b')]
  assert.deepEqual(countByNode(planPlacement(viewOf({ nodes: unlike, assignments: freeOnes(30) })).place), {
    a: 20,
    b: 10,
  })
})

test('free instances go to the newest build, which is the one whose first node joined last', () => {
  const mixed = [
    seenNode('a', { build: '9', joinedAt: noon - 50 * minute }),
    seenNode('b', { build: '10', joinedAt: noon - 40 * minute }),
    seenNode('c', { build: '9', joinedAt: noon }),
  ]
  const { place } = planPlacement(viewOf({ nodes: mixed, assignments: [...heldBy({ b: 50 }), ...freeOnes(3)] }))
  assert.deepEqual(countByNode(place), { b: 3 })
})

test('what is under way to a node counts as held by it', () => {
  const moves = heldBy({ a: 4 }).map(({ instance }) => ({ instance, from: 'a', to: 'b', askedAt: noon }))
  const { place } = planPlacement(viewOf({ nodes, moves, assignments: [...heldBy({ a: 8 }), ...freeOnes(4)] }))
  assert.deepEqual(countByNode(place), { a: 2, b: 2 })
})

test('a row that still names a node that is gone is placed like a free one', () => {
  const { place } = planPlacement(viewOf({ nodes, assignments: heldBy({ gone: 2 }) }))
  assert.deepEqual(countByNode(place), { a: 1, b: 1 })
})

test('without a node that takes them the instances stay free', () => {
  const draining = [seenNode('a', { state: 'draining' })]
  const plan = planPlacement(viewOf({ nodes: draining, assignments: [...heldBy({ a: 3 }), ...freeOnes(3)] }))
  assert.deepEqual(plan, { place: [], wish: [], drop: [], quarantine: [], startCell: false })
})

test('the instances of a dead node go to the others, by their room', () => {
  const three = [...nodes, seenNode('c')]
  const assignments = heldBy({ a: 30, b: 10, c: 20 })
  const placements = inherit({ id: 'a' }, viewOf({ nodes: three, assignments }))
  assert.deepEqual(countByNode(placements), { b: 20, c: 10 })
})

test('instances whose owners died twice within ten minutes are not inherited: they wait for a cell', () => {
  const crashedAt = noon - minute
  const assignments = [
    ...heldBy({ a: 3 }, { crashes: 1, crashedAt, since: crashedAt }),
    ...heldBy({ a: 5 }).slice(3),
    ...heldBy({ a: 7 }, { crashes: 1, crashedAt: noon - 11 * minute, since: noon - 11 * minute }).slice(5),
  ]
  const inherited = (hasCells: boolean) =>
    inherit({ id: 'a' }, viewOf({ nodes, assignments, hasCells })).map(({ instance }) => instance)
  assert.deepEqual(inherited(true), ['a-3', 'a-4', 'a-5', 'a-6'])
  assert.equal(inherited(false).length, 7, 'without cells all are inherited')
})

test('an instance in quarantine is neither placed nor inherited nor moved', () => {
  const quarantined = heldBy({ a: 20 }, { quarantinedAt: noon - minute })
  const view = viewOf({ nodes, assignments: [...quarantined, ...freeOnes(2, { quarantinedAt: noon })] })
  assert.deepEqual(planPlacement(view).place, [])
  assert.deepEqual(planPlacement(view).wish, [])
  assert.deepEqual(inherit({ id: 'a' }, view), [])
})

test('wishes that lead nowhere are dropped: another owner, a taker that is gone or drains, a minute without a move', () => {
  const moves = [
    { instance: 'a-0', from: 'a', to: 'b', askedAt: noon - minute + 1 },
    { instance: 'a-1', from: 'a', to: 'b', askedAt: noon - minute },
    { instance: 'a-2', from: 'b', to: 'a', askedAt: noon },
    { instance: 'a-3', from: 'a', to: 'gone', askedAt: noon },
    { instance: 'a-4', from: 'a', to: 'c', askedAt: noon },
    { instance: 'deleted', from: 'a', to: 'b', askedAt: noon },
    { instance: 'gone-0', from: 'gone', to: 'b', askedAt: noon },
  ]
  const seen = [...nodes, seenNode('c', { state: 'draining' })]
  const { drop } = planPlacement(viewOf({ nodes: seen, moves, assignments: heldBy({ a: 5, gone: 1 }) }))
  assert.deepEqual(drop, ['a-1', 'a-2', 'a-3', 'a-4', 'deleted', 'gone-0'])
})
