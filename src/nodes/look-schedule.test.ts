import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenNode } from '../core/nodes/node.ts'
import { seenNode } from '../../test/harness/nodes/placement-views.ts'
import { LookSchedule } from './look-schedule.ts'

const pair = [seenNode('a'), seenNode('b')]

/** A schedule of the node that has looked and found nothing to do. */
function quiet(id: string, nodes: readonly SeenNode[] = pair) {
  const schedule = new LookSchedule()
  schedule.note({ id, nodes, free: 0 }, 0)
  schedule.noteLook(nodes, 30_000, false)
  const dutyAt = (at: number, more: { free?: number; nodes?: readonly SeenNode[] } = {}) =>
    schedule.note({ id, nodes, free: 0, ...more }, at)
  return { schedule, dutyAt }
}

test('the active node with the smallest id plans: at first, and then every half minute', () => {
  assert.equal(new LookSchedule().note({ id: 'a', nodes: pair, free: 0 }, 0), 'plan')
  const { dutyAt } = quiet('a')
  assert.equal(dutyAt(59_999), 'none')
  assert.equal(dutyAt(60_000), 'plan')
})

test('it plans at once when something changed: free instances, nodes, their states and capacities', () => {
  assert.equal(quiet('a').dutyAt(31_000, { free: 1 }), 'plan')
  assert.equal(quiet('a').dutyAt(31_000, { nodes: [...pair, seenNode('c')] }), 'plan')
  assert.equal(quiet('a').dutyAt(31_000, { nodes: [seenNode('a')] }), 'plan')
  assert.equal(quiet('a').dutyAt(31_000, { nodes: [seenNode('a'), seenNode('b', { capacity: 75 })] }), 'plan')
})

test('it plans every time while a node drains, while there are cells, and while the last plan had work', () => {
  const draining = [seenNode('a'), seenNode('b', { state: 'draining' })]
  assert.equal(quiet('a', draining).dutyAt(31_000), 'plan')
  assert.equal(quiet('a', [...pair, seenNode('c', { capacity: 0 })]).dutyAt(31_000), 'plan')
  const { schedule, dutyAt } = quiet('a')
  schedule.noteLook(pair, 31_000, true)
  assert.equal(dutyAt(32_000), 'plan')
})

test('it plans when the quiet time after a change is over', () => {
  const { schedule, dutyAt } = quiet('a')
  const three = [...pair, seenNode('c')]
  dutyAt(40_000, { nodes: three })
  schedule.noteLook(three, 50_000, false)
  assert.equal(schedule.quietFor(50_000), 10_000)
  assert.equal(dutyAt(69_999, { nodes: three }), 'none')
  assert.equal(dutyAt(70_000, { nodes: three }), 'plan')
})

test('another node places only when instances were free for three seconds, and then every three seconds', () => {
  const { schedule, dutyAt } = quiet('b')
  assert.equal(dutyAt(100_000), 'none')
  assert.equal(dutyAt(101_000, { free: 2 }), 'none')
  assert.equal(dutyAt(103_999, { free: 2 }), 'none')
  assert.equal(dutyAt(104_000, { free: 2 }), 'place')
  schedule.noteLook(pair, 104_000, true)
  assert.equal(dutyAt(106_999, { free: 1 }), 'none')
  assert.equal(dutyAt(107_000, { free: 1 }), 'place')
  assert.equal(dutyAt(108_000), 'none')
  assert.equal(dutyAt(110_500, { free: 1 }), 'none', 'these are others')
})

test('a cell never plans, and a draining node only when no active one is left', () => {
  const draining = seenNode('a', { state: 'draining' })
  const cell = seenNode('0', { capacity: 0 })
  assert.equal(new LookSchedule().note({ id: '0', nodes: [cell, ...pair], free: 0 }, 0), 'none')
  assert.equal(new LookSchedule().note({ id: 'a', nodes: [cell, draining, seenNode('b')], free: 0 }, 0), 'none')
  assert.equal(new LookSchedule().note({ id: 'b', nodes: [cell, draining, seenNode('b')], free: 0 }, 0), 'plan')
  assert.equal(new LookSchedule().note({ id: 'a', nodes: [cell, draining], free: 0 }, 0), 'plan')
})
