// The calls of the stores of nodes and assignments. SQLite has neither.

import { assignmentInsert } from '../../../src/storage/stores/nodes/assignment-steps.ts'
import type { StoreCall, Stores } from './all-stores.ts'
import { sampleNode } from './node-stage.ts'

const engine = 'postgres'
const takerOf = (id: string) => `taker of ${id}`

/** The node and the instance are named after the call. */
async function held({ nodes, database }: Stores, id: string): Promise<void> {
  await nodes.join(sampleNode(id), 1000)
  await nodes.join(sampleNode(takerOf(id)), 1000)
  await database.write(...assignmentInsert(database, id, id, 1000))
}

async function freed(stores: Stores, id: string): Promise<void> {
  await held(stores, id)
  await stores.nodes.end(id, 1000)
}

const wished = async (stores: Stores, id: string) => {
  await held(stores, id)
  await stores.assignments.wish([{ instance: id, from: id, to: takerOf(id), askedAt: 1000 }])
}

async function holdOf({ assignments }: Stores, id: string) {
  const { epoch = 0 } = (await assignments.find(id)) ?? {}
  return { instance: id, node: id, epoch }
}

/** The repeated call carries the hold of before. */
const holds = new Map<string, Awaited<ReturnType<typeof holdOf>>>()
async function heldBefore(stores: Stores, id: string): Promise<void> {
  await wished(stores, id)
  holds.set(id, await holdOf(stores, id))
}
const before = (id: string) => holds.get(id) ?? { instance: id, node: id, epoch: 0 }

export const nodeCalls: Readonly<Record<string, StoreCall>> = {
  'NodeStore.join': { engine, kind: 'repeated', run: ({ nodes }, id) => nodes.join(sampleNode(id), 1000) },
  // A beat whose answer was lost is followed by the next one.
  'NodeStore.beat': { engine, kind: 'counted', given: held, run: ({ nodes }, id) => nodes.beat(id) },
  'NodeStore.bury': {
    engine,
    kind: 'repeated',
    given: wished,
    run: ({ nodes }, id) => nodes.bury({ id, beat: 0 }, [{ instance: id, node: takerOf(id) }], 2000),
  },
  'NodeStore.drain': { engine, kind: 'repeated', given: held, run: ({ nodes }, id) => nodes.drain(id) },
  'NodeStore.end': { engine, kind: 'repeated', given: wished, run: ({ nodes }, id) => nodes.end(id, 2000) },
  'NodeStore.setCapacity': {
    engine,
    kind: 'repeated',
    given: held,
    run: ({ nodes }, id) => nodes.setCapacity(id, 75),
  },
  'NodeStore.prune': {
    engine,
    kind: 'repeated',
    given: freed,
    run: ({ nodes }) => nodes.prune(5000),
  },
  'AssignmentStore.heldBy': { engine, kind: 'read', run: ({ assignments }, id) => assignments.heldBy(id) },
  'AssignmentStore.free': { engine, kind: 'read', run: ({ assignments }) => assignments.free() },
  'AssignmentStore.all': { engine, kind: 'read', run: ({ assignments }) => assignments.all() },
  'AssignmentStore.find': { engine, kind: 'read', run: ({ assignments }, id) => assignments.find(id) },
  'AssignmentStore.deathTimes': { engine, kind: 'read', run: ({ assignments }) => assignments.deathTimes() },
  'AssignmentStore.moves': { engine, kind: 'read', run: ({ assignments }) => assignments.moves() },
  'AssignmentStore.place': {
    engine,
    kind: 'repeated',
    given: freed,
    run: ({ assignments }, id) => assignments.place([{ instance: id, node: takerOf(id) }], 2000),
  },
  'AssignmentStore.wish': {
    engine,
    kind: 'repeated',
    given: held,
    run: ({ assignments }, id) => assignments.wish([{ instance: id, from: id, to: takerOf(id), askedAt: 2000 }]),
  },
  'AssignmentStore.dropWish': {
    engine,
    kind: 'repeated',
    given: wished,
    run: ({ assignments }, id) => assignments.dropWish(id),
  },
  // The repeated hand-over answers that the hold is stale.
  'AssignmentStore.handOver': {
    engine,
    kind: 'repeated',
    given: heldBefore,
    run: ({ assignments }, id) => assignments.handOver(before(id), takerOf(id), 2000),
  },
  'AssignmentStore.quarantine': {
    engine,
    kind: 'repeated',
    given: heldBefore,
    run: ({ assignments }, id) => assignments.quarantine(before(id), 2000),
  },
  'AssignmentStore.release': {
    engine,
    kind: 'repeated',
    given: async (stores, id) => {
      await heldBefore(stores, id)
      await stores.assignments.quarantine(before(id), 1000)
    },
    run: ({ assignments }, id) => assignments.release(id, id, 2000),
  },
  'ClusterStore.counts': { engine, kind: 'read', run: ({ cluster }) => cluster.counts() },
  'ClusterStore.newestMoves': { engine, kind: 'read', run: ({ cluster }) => cluster.newestMoves(50) },
}
