// The nodes of the idle benchmark, all in one process: each beats, watches and plans through connections of its own, and holds
// instances that do nothing. The naive way beside it renews a row per instance.

import pg from 'pg'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { Membership } from '../../src/nodes/membership/membership.ts'
import type { Holder } from '../../src/nodes/membership/holder.ts'
import { newOwnerName } from '../../src/nodes/owner-name.ts'
import { inherit } from '../../src/nodes/placement/plan-placement.ts'
import { Rebalancer } from '../../src/nodes/rebalancer.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { AssignmentStore } from '../../src/storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../src/storage/stores/nodes/node-store.ts'
import { serveParent } from '../child.ts'
import { ownCpuMs } from '../own-use.ts'

const url = process.env['DATABASE_URL'] ?? ''
const log = createLog({ level: 'silent', format: 'json' })
const renewMs = 1000
const quietHolder: Holder = {
  take: () => Promise.resolve(),
  lose: () => Promise.resolve(),
  giveAway: () => Promise.resolve('not_now'),
  isolated: () => undefined,
}
const noPeers = { renewed: () => Promise.resolve(undefined), look: () => Promise.resolve() }

async function joinOne(stack: AsyncDisposableStack, index: number): Promise<Membership> {
  const database = stack.use(await openDatabase({ location: { engine: 'postgres', url }, encryptionKeys: [], log }))
  const tables = { nodes: new NodeStore(database), assignments: new AssignmentStore(database) }
  const membership: Membership = stack.use(
    new Membership({
      node: {
        ...{ name: newOwnerName(), address: `http://node-${index}`, build: '1', protocol: 1 },
        ...{ settingsHash: '', capacity: 100 },
      },
      inherit: (dead, assignments, nodes) =>
        inherit(dead, { now: membership.databaseNow(), nodes, assignments, hasCells: false }),
      listener: { onSettings: () => undefined, onSetBack: () => undefined, onFatal: () => undefined },
      ...{ tables, peers: noPeers, holder: quietHolder, isDead: () => false, clock: systemClock, log },
    }),
  )
  await membership.join()
  const rebalancer = new Rebalancer({
    ...{ assignments: tables.assignments, peers: noPeers, cells: null, log },
    view: () => {
      const { id, nodes, free } = membership
      return id === undefined ? undefined : { id, nodes, free }
    },
    onAllPlaced: ({ nodes }) => {
      membership.noteNoneFree(nodes)
    },
    lookHere: () => {
      membership.lookNow()
    },
    activities: () => Promise.resolve(new Map()),
    clock: { ...systemClock, now: () => membership.databaseNow() },
  })
  stack.use(rebalancer).start()
  return membership
}

/** Each node writes the rows of all its instances, once a second. */
async function renewOne(stack: AsyncDisposableStack, index: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let last: Promise<unknown> = Promise.resolve()
  const renew = setInterval(() => {
    last = client.query('UPDATE bench_leases SET expires_at = expires_at + 1 WHERE node = $1', [index])
  }, renewMs)
  stack.defer(async () => {
    clearInterval(renew)
    await last
    await client.end()
  })
}

let running = new AsyncDisposableStack()

async function stop(): Promise<void> {
  await running.disposeAsync()
  running = new AsyncDisposableStack()
}

const desk = {
  cpuMs: ownCpuMs,
  beat: async (count: number) => {
    await Promise.all(Array.from({ length: count }, (_, index) => joinOne(running, index)))
  },
  renew: async (count: number) => {
    await Promise.all(Array.from({ length: count }, (_, index) => renewOne(running, index)))
  },
  stop,
}

export type IdleDesk = typeof desk

serveParent(desk, stop)
