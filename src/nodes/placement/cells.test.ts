import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Assignment } from '../../core/nodes/node.ts'
import type { PlacementView } from '../../core/nodes/placement.ts'
import {
  countByNode,
  freeOnes,
  heldBy,
  minute,
  noon,
  seenNode,
  viewOf,
} from '../../../test/harness/nodes/placement-views.ts'
import { planPlacement } from './plan-placement.ts'

const node = seenNode('a')
const [cell, secondCell] = [seenNode('c1', { capacity: 0 }), seenNode('c2', { capacity: 0 })]

/** Instances whose owners died that often, the last time a minute ago. */
const crashed = (crashes: number): Partial<Assignment> => ({ crashes, crashedAt: noon - minute, since: noon - minute })

function planOf(assignments: readonly Assignment[], more: Partial<PlacementView> = {}) {
  return planPlacement(viewOf({ nodes: [node, cell, secondCell], assignments, ...more }))
}

test('ten suspects go to a cell, and the next ten two seconds later', () => {
  const suspects = freeOnes(30, crashed(2))
  assert.deepEqual(countByNode(planOf(suspects).place), { c1: 10 })
  const held = (since: number) => heldBy({ c2: 10 }, { ...crashed(2), since })
  assert.deepEqual(planOf([...suspects, ...held(noon - 1999)]).place, [])
  assert.deepEqual(countByNode(planOf([...suspects, ...held(noon - 2000)]).place), { c2: 10 })
})

test('suspects wait for a cell to start; two cells are enough', () => {
  const suspects = freeOnes(3, crashed(2))
  const withCells = (...cells: (typeof cell)[]) => planOf(suspects, { nodes: [node, ...cells] })
  assert.deepEqual([withCells().startCell, withCells().place], [true, []])
  assert.equal(withCells(cell).startCell, false)
  const accused = freeOnes(3, crashed(3))
  assert.equal(planOf(accused, { nodes: [node, cell] }).startCell, true)
  assert.equal(planOf(accused).startCell, false)
})

test('half of the accused with the most deaths go to an empty cell', () => {
  const all = [...freeOnes(5, crashed(4)), ...heldBy({ free: 9 }, { ...crashed(3), node: null }).slice(5)]
  assert.deepEqual(
    planOf(all).place.map(({ instance }) => instance),
    ['free-0', 'free-1', 'free-2'],
  )
})

test('one trial runs at a time; it takes longer after each death, and two minutes at most', () => {
  const waiting = freeOnes(4, crashed(3))
  const isNextTried = (crashes: number, agoMs: number) => {
    const tried = heldBy({ c1: 2 }, { ...crashed(crashes), since: noon - agoMs })
    return planOf([...waiting, ...tried]).place.length > 0
  }
  assert.deepEqual([isNextTried(3, 9999), isNextTried(3, 10_000)], [false, true])
  assert.deepEqual([isNextTried(4, 19_999), isNextTried(4, 20_000)], [false, true])
  assert.deepEqual([isNextTried(20, 119_999), isNextTried(20, 120_000)], [false, true])
})

test('plain suspects do not go to a cell on trial', () => {
  const tried = heldBy({ c1: 2 }, { ...crashed(3), since: noon - 3000 })
  const { place, startCell } = planOf([...tried, ...freeOnes(4, crashed(2))], { nodes: [node, cell] })
  assert.deepEqual([place, startCell], [[], true])
})

test('without an empty cell the emptier one is emptied, first the one with fewer pinned instances', () => {
  const old = { ...crashed(3), since: noon - 5 * minute }
  const all = [...freeOnes(2, crashed(3)), ...heldBy({ c1: 4, c2: 2 }, old)]
  const wishes = (pinned: readonly string[]) => {
    const activityOf = (instance: string) => ({ isPinned: pinned.includes(instance), isConnected: true, lastUsedAt: 0 })
    return planOf(all, { activityOf }).wish.map(({ instance, to }) => `${instance} to ${to}`)
  }
  assert.deepEqual(wishes([]), ['c2-0 to c1', 'c2-1 to c1'])
  assert.deepEqual(wishes(['c2-0']), ['c1-0 to c2', 'c1-1 to c2', 'c1-2 to c2', 'c1-3 to c2'])
  assert.deepEqual(wishes(['c2-0', 'c1-1']), ['c2-1 to c1'])
})

test('a cell to which instances are on their way is not empty', () => {
  const held = heldBy({ c1: 2 }, { ...crashed(3), since: noon - minute })
  const moves = [{ instance: 'c1-0', from: 'c1', to: 'c2', askedAt: noon }]
  assert.deepEqual(planOf([...held, ...freeOnes(2, crashed(3))], { moves }).place, [])
})

test('one that was alone in a cell that died is quarantined five seconds later, unless another node died then', () => {
  const [suspect, ...others] = freeOnes(6, { ...crashed(3), crashedAt: noon - minute })
  const alone = (agoMs: number) => ({ ...(suspect ?? assert.fail()), crashes: 4, crashedAt: noon - agoMs })
  const verdict = (...assignments: Assignment[]) => planOf(assignments).quarantine.map(({ instance }) => instance)
  assert.deepEqual(verdict(alone(5000), ...others), ['free-0'])
  assert.deepEqual(verdict(alone(4999), ...others), [])
  assert.deepEqual(planOf([alone(4999), ...others]).place, [], 'no trial begins meanwhile')
  const coincidence = heldBy({ a: 1 }, { crashes: 1, crashedAt: noon - 9999 })
  assert.deepEqual(verdict(alone(9000), ...others, ...coincidence), [])
  assert.deepEqual(verdict(alone(14_999), ...others, ...coincidence), [], 'the other death came later')
  assert.deepEqual(verdict({ ...alone(5000), crashes: 2 }), [], 'it was not in a cell')
})

test('one that was alone in a cell is not quarantined when a node that held nothing died within five seconds', () => {
  const [alone = assert.fail()] = freeOnes(1, { ...crashed(3), crashedAt: noon - 9000 })
  const planAfter = (...deathTimes: number[]) => planOf([alone], { deathTimes: [noon - 9000, ...deathTimes] })
  assert.deepEqual(planAfter().quarantine, [alone])
  assert.deepEqual(planAfter(noon - 14_000, noon - 4000).quarantine, [alone])
  for (const death of [noon - 13_999, noon - 9000, noon - 4001]) {
    const { quarantine, place } = planAfter(death)
    assert.deepEqual([quarantine, place], [[], [{ instance: alone.instance, node: 'c1' }]])
  }
})

test('an instance in quarantine explains the deaths before: the others are plain suspects again', () => {
  const killer = freeOnes(1, { ...crashed(5), quarantinedAt: noon - 10_000 })
  const others = freeOnes(9, crashed(4)).slice(1)
  assert.equal(planOf([...killer, ...others]).place.length, 8)
  const later = others.map((each) => ({ ...each, crashedAt: noon - 9000 }))
  assert.equal(planOf([...killer, ...later]).place.length, 4, 'a death after it is not explained')
})

test('after ten minutes in a cell an instance moves to another node', () => {
  const held = (since: number) => heldBy({ c1: 3 }, { crashes: 3, crashedAt: since - 1000, since })
  assert.deepEqual(planOf(held(noon - 10 * minute + 1)).wish, [])
  assert.deepEqual(
    planOf(held(noon - 10 * minute)).wish.map(({ instance, to }) => `${instance} to ${to}`),
    ['c1-0 to a', 'c1-1 to a', 'c1-2 to a'],
  )
})

test('a node that ends gives suspects away too, and a cell that ends keeps them', () => {
  const wishes = (giver: typeof node) => {
    const draining = { ...giver, state: 'draining' as const }
    return planOf(heldBy({ [giver.id]: 2 }, crashed(2)), { nodes: [draining, seenNode('b'), secondCell] }).wish
  }
  assert.deepEqual(
    wishes(node).map(({ instance, to }) => `${instance} to ${to}`),
    ['a-0 to b', 'a-1 to b'],
  )
  assert.deepEqual(wishes(cell), [])
})
