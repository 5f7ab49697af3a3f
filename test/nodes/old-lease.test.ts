// The lease of builds without nodes ends when the first node starts. The real store on PostgreSQL.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseWatch } from '../../src/nodes/lease-watch.ts'
import { endOldLease } from '../../src/nodes/old-lease.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { RecordedLog } from '../harness/logs.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'

const hourMs = 3_600_000

async function setUp() {
  const opened = await newDatabase('postgres')
  const leases = new LeaseStore(opened.database)
  const clock = new ManualClock()
  const recorded = new RecordedLog()
  const stop = new AbortController()
  const dead = new Set<string>()
  const isDead = (owner: string) => dead.has(owner)
  const end = () => endOldLease({ leases, isDead, clock, log: recorded.log, signal: stop.signal })
  const isWaiting = () => recorded.withMessage('another process owns the accounts, waiting').length > 0
  return {
    ...{ leases, clock, recorded, stop, dead, end, isWaiting },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

describe('the lease of an earlier build on PostgreSQL', { skip: !engines.includes('postgres') }, () => {
  test('a new database has no old owner: of several first nodes one ends the lease, and all go on', async () => {
    await using stage = await setUp()
    const all = await stage.clock.advanceUntil(Promise.all([stage.end(), stage.end(), stage.end()]))
    assert.deepEqual(new Set(all.map(({ epoch }) => epoch)), new Set([1]))
    assert.deepEqual(await stage.end(), { epoch: 1, ownerMayRun: false })
    assert.equal(stage.clock.pending, 0)
  })

  test('a node waits for an old owner that renews, and goes on with a higher epoch when it stops', async () => {
    await using stage = await setUp()
    const { leases, clock } = stage
    await leases.acquire('old', hourMs)
    const ended = stage.end()
    await waitUntil('the node waits', stage.isWaiting)
    assert.equal((await leases.holder())?.owner, 'old')
    await leases.release('old', 1)
    assert.deepEqual(await clock.advanceUntil(ended), { epoch: 2, ownerMayRun: false })
    assert.equal(await leases.renew('old', 1, hourMs), false, 'the old owner is fenced')
  })

  test('a node goes on at once when the old owner is certainly dead', async () => {
    await using stage = await setUp()
    await stage.leases.acquire('old', hourMs)
    stage.dead.add('old')
    assert.deepEqual(await stage.end(), { epoch: 2, ownerMayRun: false })
    assert.equal(stage.clock.pending, 0)
  })

  test('a node gives up when the old owner renews for a minute, and the lease stays as it was', async () => {
    await using stage = await setUp()
    const { leases, clock } = stage
    await leases.acquire('old', hourMs)
    const givenUp = assert.rejects(stage.end(), /old owns the accounts of this database: stop that process/)
    let renewals = 0
    // A renewal gives the lease another end.
    const renewing = async () => {
      await leases.renew('old', 1, hourMs + ++renewals)
      await clock.advance(1000)
    }
    let isOver = false
    void givenUp.finally(() => (isOver = true))
    await waitUntil('the node gives up', async () => (await renewing(), isOver))
    await givenUp
    assert.ok(renewals > 50, `${renewals} renewals`)
    assert.deepEqual([(await leases.holder())?.owner, (await leases.holder())?.epoch], ['old', 1])
  })

  test('a process of an earlier build never gets the lease again, however long it watches', async () => {
    await using stage = await setUp()
    const { leases, clock } = stage
    await stage.end()
    // What an earlier build does: a lease that was not renewed for 5 s counts as abandoned.
    const watch = new LeaseWatch({ isDead: () => false, clock, leaseMs: 5000 })
    for (let second = 0; second < 12; second++) {
      assert.equal(await leases.acquire('old', 5000, watch.look(await leases.holder())), undefined)
      await clock.advance(1000)
    }
    assert.notEqual(watch.look(await leases.holder()), undefined, 'the earlier build takes it for abandoned')
    assert.equal((await leases.holder())?.owner, 'nodes')
  })

  test('a node that is stopped stops waiting', async () => {
    await using stage = await setUp()
    await stage.leases.acquire('old', hourMs)
    const stopped = assert.rejects(stage.end(), /stopped while waiting/)
    await waitUntil('the node waits', stage.isWaiting)
    stage.stop.abort()
    await stopped
    assert.equal(stage.clock.pending, 0)
  })
})
