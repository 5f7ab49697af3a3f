import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeStage } from '../../../test/harness/nodes/node-stage.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { sleep } from '../../lib/clock.ts'
import { Rebalancer } from '../../nodes/rebalancer.ts'
import { isWhole, takeFirst } from './first-takes.ts'

/** A node that is assigned two instances and cannot take one of them. A read that fails gives nothing to wait for. */
function bed(isAlone: boolean, failsFirst = false) {
  const clock = new ManualClock()
  const holdings = { servedCount: 1 }
  const waits: number[] = []
  const membership = {
    ...{ free: 0, heldCount: 2, hasRead: true },
    follow: (timeoutMs: number) => {
      const isFailed = failsFirst && waits.length === 0
      waits.push(timeoutMs)
      return isFailed ? Promise.resolve() : sleep(clock, timeoutMs)
    },
  }
  const rebalancer = { tick: () => Promise.resolve() }
  return { clock, holdings, waits, deps: { holdings, membership, rebalancer, isAlone, clock } }
}

for (const isAlone of [true, false]) {
  test(`an instance that cannot be taken delays a start by 30 s at most: ${isAlone ? 'alone' : 'beside others'}`, async () => {
    const { clock, waits, deps } = bed(isAlone)
    await clock.advanceUntil(takeFirst(deps))
    assert.deepEqual([clock.monotonic(), waits], [30_000, [30_000]])
  })
}

test('a lone node looks again for what is missing, each time for a second', async () => {
  const { clock, holdings, waits, deps } = bed(true, true)
  const taken = takeFirst(deps)
  await clock.advance(3000)
  assert.equal(isWhole(deps), false)
  holdings.servedCount = 2
  await clock.advanceUntil(taken)
  assert.ok(waits.length > 2 && waits.slice(1).every((waitMs) => waitMs === 1000), waits.join())
})

test('a lone node that starts after a clean stop takes all instances at once and does not wait for its next beat', async () => {
  await using stage = new NodeStage()
  await stage.tables.addInstance('shop')
  const { id, membership, holder, recorded } = await stage.join({ address: '' })
  const { clock, tables } = stage
  await using rebalancer = new Rebalancer({
    assignments: tables.assignments,
    peers: { look: () => Promise.resolve() },
    view: () => ({ id, nodes: membership.nodes, free: membership.free }),
    onAllPlaced: ({ nodes }) => {
      membership.noteNoneFree(nodes)
    },
    lookHere: () => {
      membership.lookNow()
    },
    activities: () => Promise.resolve(new Map()),
    cells: null,
    ...{ clock, log: recorded.log },
  })
  const holdings = {
    get servedCount() {
      return holder.held.size
    },
  }
  await takeFirst({ holdings, membership, rebalancer, isAlone: true, clock })
  assert.deepEqual([...holder.held], ['shop'])
})
