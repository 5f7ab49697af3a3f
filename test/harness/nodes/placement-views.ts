// Views of a cluster for tests of placement: by hand, and drawn at random.

import fc from 'fast-check'
import type { Assignment, Move, SeenNode } from '../../../src/core/nodes/node.ts'
import type { Activity, PlacementView } from '../../../src/core/nodes/placement.ts'

export const noon = Date.UTC(2026, 0, 15, 12)
export const minute = 60_000

export function seenNode(id: string, more: Partial<SeenNode> = {}): SeenNode {
  return {
    ...{ id, name: `host-${id}`, address: `http://${id}`, build: '1', protocol: 1, settingsHash: 'same' },
    ...{ capacity: 100, state: 'active', beat: 1, joinedAt: noon - 60 * minute },
    ...more,
  }
}

export function assignment(instance: string, node: string | null, more: Partial<Assignment> = {}): Assignment {
  return {
    ...{ instance, node, epoch: 1, since: noon - 60 * minute, crashes: 0, crashedAt: null, quarantinedAt: null },
    ...more,
  }
}

/** As many instances as said for each node. The names say where they were. */
export function heldBy(counts: Record<string, number>, more: Partial<Assignment> = {}): Assignment[] {
  return Object.entries(counts).flatMap(([node, count]) => {
    return Array.from({ length: count }, (_, index) => assignment(`${node}-${index}`, node, more))
  })
}

export function freeOnes(count: number, more: Partial<Assignment> = {}): Assignment[] {
  return Array.from({ length: count }, (_, index) => assignment(`free-${index}`, null, more))
}

/** A quiet cluster in which cells can be started. */
export function viewOf(more: Partial<PlacementView>): PlacementView {
  return {
    ...{ now: noon, nodes: [], assignments: [], moves: [], changedAt: noon - 60 * minute },
    ...{ activityOf: () => undefined, asked: new Map(), deathTimes: [], hasCells: true },
    ...more,
  }
}

export function countByNode(items: readonly { node: string | null }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { node } of items) counts[node ?? 'free'] = (counts[node ?? 'free'] ?? 0) + 1
  return counts
}

const drawnNode = fc.record({
  state: fc.constantFrom<SeenNode['state'][]>('active', 'active', 'active', 'draining', 'dead'),
  build: fc.constantFrom('1', '1', '2'),
  capacity: fc.constantFrom(100, 100, 25, 75, 200, 0),
  joinedAt: fc.integer({ min: noon - 60 * minute, max: noon }),
}) satisfies fc.Arbitrary<Partial<SeenNode>>

const recently = fc.integer({ min: noon - 20 * minute, max: noon })

const drawnInstance = fc.record({
  owner: fc.integer({ min: -2, max: 5 }),
  since: recently,
  crashes: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
  crashedAt: recently,
  quarantinedAt: fc.option(recently, { freq: 12 }),
  activity: fc.option(fc.record({ isPinned: fc.boolean(), isConnected: fc.boolean(), lastUsedAt: recently })),
  askedAt: fc.option(recently),
  moveTo: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 15 }),
})

type Value<Drawn> = Drawn extends fc.Arbitrary<infer T> ? T : never

type Drawn = {
  nodes: Value<typeof drawnNode>[]
  instances: Value<typeof drawnInstance>[]
  changedAt: number
  hasCells: boolean
}

/** Any state that the tables can have, also one that no run of the service reaches. */
export const drawnView: fc.Arbitrary<PlacementView> = fc
  .record({
    nodes: fc.array(drawnNode, { maxLength: 5 }),
    instances: fc.array(drawnInstance, { maxLength: 60 }),
    changedAt: fc.constantFrom(noon - 60 * minute, noon - 31_000, noon - 29_000, noon),
    hasCells: fc.boolean(),
  })
  .map(viewOfDrawn)

function viewOfDrawn({ nodes: drawnNodes, instances, changedAt, hasCells }: Drawn): PlacementView {
  const nodes = drawnNodes.map((drawn, index) => seenNode(`n${index}`, drawn))
  const activities = new Map<string, Activity>()
  const asked = new Map<string, number>()
  const moves: Move[] = []
  const assignments = instances.map(({ owner, activity, askedAt, moveTo, crashes, ...rest }, index) => {
    const instance = `i${index}`
    // The owner may be a node that is not seen: its burial left out a row that was locked.
    const node = owner < 0 ? null : `n${owner}`
    if (activity !== null) activities.set(instance, activity)
    if (askedAt !== null) asked.set(instance, askedAt)
    if (moveTo !== null && node !== null && moves.length < 8) {
      moves.push({ instance, from: node, to: `n${moveTo}`, askedAt: askedAt ?? noon })
    }
    return assignment(instance, node, { ...rest, crashes, crashedAt: crashes > 0 ? rest.crashedAt : null })
  })
  return viewOf({ nodes, assignments, moves, changedAt, hasCells, asked, activityOf: (name) => activities.get(name) })
}
