import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity, PlacementView } from '../../core/nodes/placement.ts'
import { heldBy, minute, noon, seenNode, viewOf } from '../../../test/harness/nodes/placement-views.ts'
import { planPlacement } from './plan-placement.ts'

const nodes = [seenNode('a'), seenNode('b')]

function wishesOf(more: Partial<PlacementView>): string[] {
  return planPlacement(viewOf({ nodes, ...more })).wish.map(({ instance, to }) => `${instance} to ${to}`)
}

test('instances move from the fullest to the emptiest node, four a second', () => {
  assert.deepEqual(wishesOf({ assignments: heldBy({ a: 20 }) }), ['a-0 to b', 'a-1 to b', 'a-10 to b', 'a-11 to b'])
})

test('nodes that differ by two or by a tenth of a fair share are even', () => {
  assert.deepEqual(wishesOf({ assignments: heldBy({ a: 6, b: 4 }) }), [])
  assert.equal(wishesOf({ assignments: heldBy({ a: 7, b: 4 }) }).length, 1)
  assert.deepEqual(wishesOf({ assignments: heldBy({ a: 105, b: 95 }) }), [])
  assert.equal(wishesOf({ assignments: heldBy({ a: 106, b: 95 }) }).length, 1)
})

test('even means the same share of the capacity', () => {
  const unlike = [seenNode('a', { capacity: 300 }), seenNode('b')]
  assert.deepEqual(wishesOf({ nodes: unlike, assignments: heldBy({ a: 75, b: 25 }) }), [])
  assert.equal(wishesOf({ nodes: unlike, assignments: heldBy({ a: 50, b: 50 }) })[0], 'b-0 to a')
})

test('large nodes become even although the fullest node is a small one that cannot', () => {
  const unlike = [seenNode('a', { capacity: 1000 }), seenNode('b', { capacity: 1000 }), seenNode('c', { capacity: 1 })]
  assert.equal(wishesOf({ nodes: unlike, assignments: heldBy({ a: 100, b: 60, c: 1 }) })[0], 'a-0 to b')
})

test('nothing is evened out within 30 seconds of a node that joined, drained or died', () => {
  const assignments = heldBy({ a: 20 })
  assert.deepEqual(wishesOf({ assignments, changedAt: noon - 29_999 }), [])
  assert.equal(wishesOf({ assignments, changedAt: noon - 30_000 }).length, 4)
})

test('an instance that was asked to move rests for ten minutes', () => {
  const askedAgo = (ms: number) => new Map(heldBy({ a: 19 }).map(({ instance }) => [instance, noon - ms]))
  assert.deepEqual(wishesOf({ assignments: heldBy({ a: 20 }), asked: askedAgo(10 * minute - 1) }), ['a-19 to b'])
  assert.equal(wishesOf({ assignments: heldBy({ a: 20 }), asked: askedAgo(10 * minute) }).length, 4)
})

test('four moves start in a second, however often the plan is made', () => {
  const asked = new Map([
    ['x', noon - 999],
    ['y', noon - 500],
    ['z', noon - 1000],
  ])
  assert.equal(wishesOf({ assignments: heldBy({ a: 20 }), asked }).length, 2)
})

test('at most eight moves are under way', () => {
  const moves = heldBy({ a: 6 }).map(({ instance }) => ({ instance, from: 'a', to: 'b', askedAt: noon }))
  assert.equal(wishesOf({ assignments: heldBy({ a: 60 }), moves }).length, 2)
})

test('pinned instances stay; first those move that are not connected, then those that are idle longest', () => {
  const activities: Record<string, Activity> = {
    'a-0': { isPinned: true, isConnected: false, lastUsedAt: 0 },
    'a-1': { isPinned: false, isConnected: true, lastUsedAt: noon - minute },
    'a-2': { isPinned: false, isConnected: true, lastUsedAt: noon - 2 * minute },
    'a-3': { isPinned: false, isConnected: false, lastUsedAt: noon },
    'a-4': { isPinned: false, isConnected: true, lastUsedAt: noon },
  }
  const view = { assignments: heldBy({ a: 5 }), activityOf: (instance: string) => activities[instance] }
  assert.deepEqual(wishesOf(view), ['a-3 to b', 'a-2 to b'])
})

test('a node that drains gives everything away at once, eight at a time, and gets nothing', () => {
  const leaving = [seenNode('a', { state: 'draining' }), seenNode('b'), seenNode('c')]
  const wishes = wishesOf({ nodes: leaving, assignments: heldBy({ a: 30, b: 10 }), changedAt: noon })
  assert.equal(wishes.length, 8)
  assert.deepEqual([...new Set(wishes.map((wish) => wish.slice(-1)))], ['c'])
})

test('an instance that does not leave a draining node lets the others go first', () => {
  const leaving = [seenNode('a', { state: 'draining' }), seenNode('b')]
  const asked = new Map(heldBy({ a: 8 }).map(({ instance }) => [instance, noon - minute]))
  const wishes = wishesOf({ nodes: leaving, assignments: heldBy({ a: 10 }), asked })
  assert.deepEqual(wishes.slice(0, 3), ['a-8 to b', 'a-9 to b', 'a-0 to b'])
})

test('during an upgrade instances move to the new build and not back', () => {
  const mixed = [seenNode('a'), seenNode('b'), seenNode('c', { build: '2', joinedAt: noon - minute })]
  const takers = wishesOf({ nodes: mixed, assignments: heldBy({ a: 30 }) }).map((wish) => wish.slice(-1))
  assert.deepEqual(takers, ['c', 'c', 'c', 'c'])
  assert.deepEqual(wishesOf({ nodes: mixed, assignments: heldBy({ c: 30 }) }), [])
})
