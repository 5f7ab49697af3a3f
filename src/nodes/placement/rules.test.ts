// The rules of placement, for clusters in any state.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Move } from '../../core/nodes/node.ts'
import type { PlacementPlan, PlacementView } from '../../core/nodes/placement.ts'
import { assignment, drawnView, minute, noon, seenNode, viewOf } from '../../../test/harness/nodes/placement-views.ts'
import { inherit, planPlacement } from './plan-placement.ts'

function always(name: string, rule: (view: PlacementView, plan: PlacementPlan) => void): void {
  test(name, () => {
    fc.assert(
      fc.property(drawnView, (view) => {
        rule(view, planPlacement(view))
      }),
      { numRuns: 1000 },
    )
  })
}

const isReal = (view: PlacementView, id: string) => view.nodes.some((node) => node.id === id && node.capacity > 0)
const isActive = (view: PlacementView, id: string) =>
  view.nodes.some((node) => node.id === id && node.state === 'active')
const isFree = ({ nodes }: PlacementView, node: string | null) =>
  nodes.every(({ id, state }) => id !== node || state === 'dead')

/** Moves that make nodes even. The others leave a node that drains or a cell. */
const evening = (view: PlacementView, { wish }: PlacementPlan) =>
  wish.filter(({ from }) => isReal(view, from) && isActive(view, from))

always('no instance is placed or moved twice, and only free ones are placed', (view, { place, wish }) => {
  const names = [...place, ...wish].map(({ instance }) => instance)
  assert.equal(new Set(names).size, names.length)
  for (const { instance } of place) {
    const placed = view.assignments.find((each) => each.instance === instance)
    assert.ok(placed?.quarantinedAt === null && isFree(view, placed.node), instance)
  }
  for (const { instance, from } of wish) {
    assert.ok(view.assignments.some((each) => each.instance === instance && each.node === from))
    assert.ok(view.moves.every((move) => move.instance !== instance))
  }
})

always('no free instance is forgotten', (view, { place, quarantine, startCell }) => {
  const left = view.assignments.filter((each) => {
    const isPlaced = place.some(({ instance }) => instance === each.instance) || quarantine.includes(each)
    return isFree(view, each.node) && each.quarantinedAt === null && !isPlaced
  })
  const cells = view.nodes.filter(({ state, capacity }) => state === 'active' && capacity === 0)
  for (const { instance, crashes, crashedAt } of left) {
    const isSuspect = view.hasCells && crashes >= 2 && !hasForgotten(view, instance)
    // Suspects wait for a cell: one starts, or one is there. The verdict on one that was alone waits five seconds.
    const isJudged = crashes >= 3 && view.now - (crashedAt ?? 0) < 5000
    if (isSuspect) assert.ok(startCell || cells.length > 0 || isJudged, instance)
    else assert.ok(!view.nodes.some(({ id }) => isActive(view, id) && isReal(view, id)), instance)
  }
})

always('only active nodes get instances, and of nodes that are no cells only those of one build', (view, plan) => {
  const takers = [...plan.place.map(({ node }) => node), ...plan.wish.map(({ to }) => to)]
  for (const id of takers) assert.ok(isActive(view, id), id)
  const builds = takers.filter((id) => isReal(view, id)).map((id) => view.nodes.find((node) => node.id === id)?.build)
  assert.ok(new Set(builds).size <= 1)
})

always('suspects go to cells and to no other node, and cells get nothing else', (view, { place, wish }) => {
  for (const { instance, node } of [...place, ...wish.map((move) => ({ ...move, node: move.to }))]) {
    const crashes = view.assignments.find((each) => each.instance === instance)?.crashes ?? 0
    if (!isReal(view, node)) assert.ok(view.hasCells && crashes >= 2, instance)
    else if (view.hasCells && place.some((each) => each.instance === instance))
      assert.ok(crashes < 2 || hasForgotten(view, instance))
  }
})

/** Only a row that names a node which is not seen can be free and be forgotten. */
function hasForgotten(view: PlacementView, name: string): boolean {
  const found = view.assignments.find(({ instance }) => instance === name)
  return found?.node !== null && view.now - Math.max(found?.crashedAt ?? 0, found?.since ?? 0) >= 10 * minute
}

always('at most eight moves are under way', (view, { wish, drop }) => {
  assert.ok(view.moves.length - drop.length + wish.length <= 8)
})

always('a move that makes nodes even improves', (view, plan) => {
  const counts = new Map<string, number>()
  const add = (id: string, count: number) => counts.set(id, (counts.get(id) ?? 0) + count)
  for (const { node, quarantinedAt } of view.assignments) if (node !== null && quarantinedAt === null) add(node, 1)
  const move = ({ from, to }: Move) => {
    add(from, -1)
    add(to, 1)
  }
  for (const { node } of plan.place) add(node, 1)
  for (const each of view.moves) if (!plan.drop.includes(each.instance)) move(each)
  for (const each of plan.wish) {
    const before = unevenness(view, counts)
    move(each)
    if (evening(view, plan).includes(each)) assert.ok(unevenness(view, counts) < before)
  }
})

function unevenness(view: PlacementView, counts: ReadonlyMap<string, number>): number {
  const real = view.nodes.filter(({ capacity }) => capacity > 0)
  return real.reduce((sum, { id, capacity }) => sum + (counts.get(id) ?? 0) ** 2 / capacity, 0)
}

always('pinned instances do not move', (view, { wish }) => {
  assert.ok(wish.every(({ instance }) => view.activityOf(instance)?.isPinned !== true))
})

always(
  'nodes are not made even within 30 seconds of a change, and no instance moves again within ten minutes',
  (view, plan) => {
    const moved = evening(view, plan)
    if (view.now - view.changedAt < 30_000) assert.deepEqual(moved, [])
    assert.ok(moved.every(({ instance }) => view.now - (view.asked.get(instance) ?? 0) >= 10 * minute))
    assert.ok(moved.length <= 4)
  },
)

always('the order of nodes and rows does not matter', (view, plan) => {
  const reversed = { nodes: view.nodes.toReversed(), assignments: view.assignments.toReversed() }
  assert.deepEqual(planPlacement({ ...view, ...reversed }), { ...plan, quarantine: plan.quarantine })
})

always('every instance of a dead node that is no suspect is inherited, once, and never by the dead node', (view) => {
  const dead = view.nodes[0]
  if (dead === undefined) return
  const placements = inherit(dead, { ...view, hasCells: false })
  const others = view.nodes.some(({ id }) => id !== dead.id && isActive(view, id) && isReal(view, id))
  const orphans = view.assignments.filter(({ node, quarantinedAt }) => node === dead.id && quarantinedAt === null)
  const expected = others ? orphans.map(({ instance }) => instance) : []
  assert.deepEqual(placements.map(({ instance }) => instance).sort(), expected.sort())
  assert.ok(placements.every(({ node }) => node !== dead.id && isActive(view, node)))
})

test('plans that follow each other come to an end, and then the nodes are even', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 5 })
  const capacities = fc.array(fc.constantFrom(25, 100, 200), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(counts, capacities, (held, sizes) => {
      const nodes = held.map((_, index) => seenNode(`n${index}`, { capacity: sizes[index] ?? 100 }))
      let assignments = held.flatMap((count, node) =>
        Array.from({ length: count }, (_, index) => assignment(`n${node}-${index}`, `n${node}`)),
      )
      let now = noon
      const asked = new Map<string, number>()
      for (let rounds = 0; ; rounds++, now += 1000) {
        assert.ok(rounds <= 300, 'it ends')
        const { wish } = planPlacement(viewOf({ nodes, assignments, asked, now }))
        if (wish.length === 0) break
        for (const { instance } of wish) asked.set(instance, now)
        const to = new Map(wish.map((move) => [move.instance, move.to]))
        assignments = assignments.map((each) => ({ ...each, node: to.get(each.instance) ?? each.node }))
      }
      // Nodes of one capacity differ by at most two, or a tenth of their fair share.
      const total = nodes.reduce((sum, { capacity }) => sum + capacity, 0)
      const countOf = (id: string) => assignments.filter(({ node }) => node === id).length
      for (const one of nodes) {
        for (const other of nodes.filter(({ capacity }) => capacity === one.capacity)) {
          const fair = (assignments.length * one.capacity) / total
          assert.ok(countOf(one.id) - countOf(other.id) <= Math.max(2, fair / 10))
        }
      }
    }),
    { numRuns: 200 },
  )
})
