// An instance moves to another node under traffic: quickly, with one connection at a time, and also when its node dies on the way.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HandOverStep } from '../../../src/instances/hand-over.ts'
import { AssignmentStore } from '../../../src/storage/stores/nodes/assignment-store.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { isLong } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { terminate } from './harness/faults.ts'
import { patienceMs } from './harness/node-set.ts'
import type { StageNode } from './harness/stage-node.ts'

/** The gate kills where the most is open: all has ended here, and no other node knows of it yet. */
const steps: readonly HandOverStep[] = isLong ? ['begun', 'rested', 'closed', 'left', 'given'] : ['left']
const options = { skip: withoutPostgres, timeout: 600_000 }
/** A busy machine needs long for a login. */
const longestGapMs = 10_000

/** The owner of the instance is asked to give it to that node. */
async function askToMove(
  { parts: { database } }: ClusterStage,
  instance: string,
  { address }: StageNode,
): Promise<void> {
  const assignments = new AssignmentStore(database)
  const active = database.query.selectFrom('nodes').select('id').where('state', '=', 'active')
  // A process listens before it is a node.
  const isAsked = async () => {
    const [taker] = await database.read(active.where('address', '=', address))
    const from = (await assignments.find(instance))?.node
    if (!taker || from == null) return false
    await assignments.wish([{ instance, from, to: taker.id, askedAt: Date.now() }])
    return true
  }
  await waitUntil(`${instance} is to move`, isAsked, { timeoutMs: patienceMs })
}

async function move(stage: ClusterStage, instance: string, to: StageNode): Promise<void> {
  const from = await stage.ownerOf(instance)
  await stage.moving(from, () => askToMove(stage, instance, to))
}

test(
  'a node that ends gives everything away: no connection is replaced, and the gaps are short',
  options,
  async (t) => {
    await using stage = await ClusterStage.open({ nodes: 2, accounts: 4, customersPerAccount: 1 })
    stage.traffic.start()
    const leaving = await stage.ownerOf('n0')
    const marks = stage.parts.phones.map(({ companionEvents }) => companionEvents.length)
    await terminate(stage, leaving)
    const gaps = stage.parts.phones.flatMap(({ companionEvents }, index) => {
      const [offline, online] = companionEvents.after(marks[index] ?? 0)
      return offline && online ? [online.at - offline.at] : []
    })
    t.diagnostic(`offline for ${gaps.join(', ')} ms`)
    assert.ok(gaps.length > 0 && Math.max(...gaps) < longestGapMs, `offline for ${gaps.join(', ')} ms`)
    await stage.assertNothingWrong()
  },
)

test('a node dies between two steps of a hand-over: nothing is lost, doubled or unreadable', options, async (t) => {
  await using stage = await ClusterStage.open({ nodes: 1, accounts: 1, customersPerAccount: 1 })
  const [survivor] = stage.nodes.living
  assert.ok(survivor)
  stage.traffic.start()
  for (const stopsAt of steps) {
    const dying = await stage.nodes.join({ stopsAt })
    await move(stage, 'n0', dying)
    await askToMove(stage, 'n0', survivor)
    await dying.process.logged('standing still')
    await stage.moving(dying, () => dying.end('SIGKILL'))
    t.diagnostic(`killed after ${stopsAt}`)
    await waitUntil('it is online', () => stage.parts.phones[0]?.companion.isConnected === true, {
      timeoutMs: patienceMs,
    })
    stage.assertNothingWrongYet(`killed after ${stopsAt}`)
  }
  await stage.assertNothingWrong()
})
