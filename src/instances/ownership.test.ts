import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { LeaseHolder, SeenLease } from '../storage/stores/lease-store.ts'
import { Ownership } from './ownership.ts'

/** A lease row in memory, with a switch for the database being away. The real one has a contract suite of its own. */
class LeaseRow {
  owner = ''
  epoch = 0
  taken = false
  away = false
  /** The owner does not renew its lease any more. */
  silent = false
  #renewals = 0

  acquire(owner: string, forMs = 5000, abandoned?: SeenLease): Promise<number | undefined> {
    assert.equal(forMs, 5000)
    if (this.away) return Promise.reject(new Error('database away'))
    if (this.taken && abandoned === undefined) return Promise.resolve(undefined)
    this.owner = owner
    this.taken = true
    return Promise.resolve(++this.epoch)
  }

  renew(owner: string, epoch: number): Promise<boolean> {
    if (this.away) return Promise.reject(new Error('database away'))
    return Promise.resolve(this.owner === owner && this.epoch === epoch)
  }

  release(): Promise<void> {
    this.taken = false
    return Promise.resolve()
  }

  holder(): Promise<LeaseHolder | undefined> {
    if (this.away) return Promise.reject(new Error('database away'))
    if (this.owner === '') return Promise.resolve(undefined)
    if (!this.silent) this.#renewals++
    const { owner, epoch, taken } = this
    return Promise.resolve({ owner, epoch, expiresAt: this.#renewals, expiresInMs: 1000, isReleased: !taken })
  }
}

function setUp(leases = new LeaseRow()) {
  const clock = new ManualClock()
  const lost: Error[] = []
  const recorded = new RecordedLog()
  const onLost = (reason: Error) => lost.push(reason)
  const dead = new Set<string>()
  const isDead = (owner: string) => dead.has(owner)
  const ownership = new Ownership({ owner: 'me', isDead, leases, clock, log: recorded.log, onLost })
  return { clock, leases, lost, recorded, dead, ownership }
}

test('a free lease is taken at once, kept while renewed, and released at the end', async () => {
  const { clock, leases, ownership } = setUp()
  assert.equal(ownership.state, 'standby')
  assert.throws(() => ownership.nodeHold(), /does not own/)
  await ownership.acquire()
  assert.deepEqual([ownership.state, ownership.nodeHold().epoch], ['held', 1])
  await clock.advance(60_000)
  assert.equal(ownership.state, 'held')
  await ownership[Symbol.asyncDispose]()
  assert.deepEqual([ownership.state, leases.taken, clock.pending], ['released', false, 0])
})

test('a standby takes over when the owner releases the lease', async () => {
  const leases = new LeaseRow()
  await leases.acquire('first')
  const { clock, recorded, ownership } = setUp(leases)
  const acquired = ownership.acquire()
  await clock.advance(5000)
  assert.equal(ownership.state, 'standby')
  assert.equal(recorded.withMessage('another process owns the accounts, waiting')[0]?.['holder'], 'first')
  await leases.release()
  await clock.advance(1000)
  await acquired
  assert.deepEqual([ownership.state, ownership.nodeHold().epoch], ['held', 2])
  await ownership[Symbol.asyncDispose]()
})

test('a standby gives up after 60 s and names the owner', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { clock, ownership } = setUp(leases)
  const givenUp = assert.rejects(ownership.acquire(), /host-a pid 7 owns the accounts .* stop that process/)
  await clock.advance(59_000)
  assert.equal(ownership.state, 'standby')
  await clock.advance(2000)
  await givenUp
})

test('ownership becomes uncertain before the lease ends when the database is away, and held again when it is back', async () => {
  const { clock, leases, lost, ownership } = setUp()
  await ownership.acquire()
  await clock.advance(1000)
  leases.away = true
  await clock.advance(4499)
  assert.equal(ownership.state, 'held')
  await clock.advance(1)
  assert.equal(ownership.state, 'uncertain')
  leases.away = false
  await clock.advance(1000)
  assert.deepEqual([ownership.state, lost], ['held', []])
  await ownership[Symbol.asyncDispose]()
})

test('a lease that another process took is lost for good', async () => {
  const { clock, leases, lost, ownership } = setUp()
  await ownership.acquire()
  await leases.release()
  await leases.acquire('second')
  await clock.advance(1000)
  assert.equal(ownership.state, 'lost')
  assert.match(lost[0]?.message ?? '', /second owns the accounts/)
  await ownership[Symbol.asyncDispose]()
  assert.equal(leases.taken, true, 'the new owner keeps what it took')
})

test('a standby goes on asking while the database does not answer', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { clock, recorded, ownership } = setUp(leases)
  const acquired = ownership.acquire()
  await clock.advance(50_000)
  leases.away = true
  await clock.advance(600_000)
  assert.equal(ownership.state, 'standby')
  const warnings = recorded.withMessage('the lease could not be asked for')
  assert.ok(warnings.length >= 2 && warnings.length <= 25, `${warnings.length} warnings`)
  leases.away = false
  await leases.release()
  await clock.advance(1000)
  await acquired
  assert.deepEqual([ownership.state, ownership.predecessorMayRun], ['held', false])
  await ownership[Symbol.asyncDispose]()
})

test('only the time in which a living owner is named counts for giving up', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { clock, ownership } = setUp(leases)
  const givenUp = assert.rejects(ownership.acquire(), /host-a pid 7 owns the accounts/)
  await clock.advance(40_000)
  leases.away = true
  await clock.advance(100_000)
  leases.away = false
  await clock.advance(15_000)
  assert.equal(ownership.state, 'standby')
  await clock.advance(10_000)
  await givenUp
})

test('a lease whose owner is dead is taken at once', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { recorded, dead, ownership } = setUp(leases)
  dead.add('host-a pid 7')
  await ownership.acquire()
  assert.deepEqual([ownership.state, ownership.nodeHold().epoch, ownership.predecessorMayRun], ['held', 2, false])
  assert.equal(recorded.withMessage('another process owns the accounts, waiting').length, 0)
  await ownership[Symbol.asyncDispose]()
})

test('a lease that ends in an hour by a wrong clock is taken when its owner has not renewed it for 5 s', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { clock, ownership } = setUp(leases)
  const acquired = ownership.acquire()
  await clock.advance(10_000)
  assert.equal(ownership.state, 'standby', 'the owner renews it')
  leases.silent = true
  await clock.advance(4000)
  assert.equal(ownership.state, 'standby')
  await clock.advance(2000)
  await acquired
  assert.deepEqual([ownership.state, ownership.predecessorMayRun], ['held', true])
  await ownership[Symbol.asyncDispose]()
})

test('an owner that is seen after the database was away is named', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  leases.away = true
  const { clock, recorded, ownership } = setUp(leases)
  const givenUp = assert.rejects(ownership.acquire(), /host-a pid 7 owns the accounts/)
  await clock.advance(5000)
  leases.away = false
  await clock.advance(62_000)
  await givenUp
  assert.equal(recorded.withMessage('another process owns the accounts, waiting').length, 1)
})

test('an owner that is named once is logged once, also when the database does not answer afterwards', async () => {
  const leases = new LeaseRow()
  await leases.acquire('host-a pid 7')
  const { clock, recorded, ownership } = setUp(leases)
  const stopped = assert.rejects(ownership.acquire(), /stopped while waiting/)
  await clock.advance(500)
  leases.away = true
  await clock.advance(100_000)
  const holders = recorded.withMessage('another process owns the accounts, waiting').map(({ holder }) => holder)
  assert.deepEqual(holders, ['host-a pid 7'])
  await ownership[Symbol.asyncDispose]()
  await stopped
})

test('a lease that was granted without an answer is taken at once', async () => {
  const { clock, leases, recorded, ownership } = setUp()
  const take = leases.acquire.bind(leases)
  leases.acquire = async (owner, forMs, abandoned) => {
    const epoch = await take(owner, forMs, abandoned)
    if (epoch === 1) throw new Error('the answer was lost')
    return epoch
  }
  const acquired = ownership.acquire()
  await clock.advance(1000)
  assert.deepEqual([ownership.state, ownership.nodeHold().epoch, ownership.predecessorMayRun], ['held', 2, false])
  assert.equal(recorded.withMessage('another process owns the accounts, waiting').length, 0)
  await acquired
  await ownership[Symbol.asyncDispose]()
})

test('a lease that is no longer in the database is lost, and the reason says so', async () => {
  const { clock, leases, lost, ownership } = setUp()
  await ownership.acquire()
  leases.owner = ''
  await clock.advance(1000)
  assert.equal(ownership.state, 'lost')
  assert.match(lost[0]?.message ?? '', /^the lease is no longer in the database: /)
  await ownership[Symbol.asyncDispose]()
})

test('a lease that is granted during the stop is released at once', async () => {
  const { leases, ownership } = setUp()
  const granted = Promise.withResolvers<undefined>()
  const take = leases.acquire.bind(leases)
  leases.acquire = async (owner) => {
    await granted.promise
    return take(owner)
  }
  const stopped = assert.rejects(ownership.acquire(), /stopped while waiting/)
  const disposed = ownership[Symbol.asyncDispose]()
  granted.resolve(undefined)
  await Promise.all([stopped, disposed])
  assert.deepEqual([leases.epoch, leases.taken], [1, false])
})

test('requests are served while the lease is held or uncertain, not before and not after', async () => {
  const { clock, leases, ownership } = setUp()
  assert.equal(ownership.serves, false)
  await ownership.acquire()
  assert.equal(ownership.serves, true)
  leases.away = true
  await clock.advance(6000)
  assert.deepEqual([ownership.state, ownership.serves], ['uncertain', true])
  leases.away = false
  leases.epoch++
  await clock.advance(1000)
  assert.deepEqual([ownership.state, ownership.serves], ['lost', false])
  await ownership[Symbol.asyncDispose]()
  assert.equal(ownership.serves, false)
})

test('a standby that is stopped stops waiting', async () => {
  const leases = new LeaseRow()
  await leases.acquire('first')
  const { clock, ownership } = setUp(leases)
  const stopped = assert.rejects(ownership.acquire(), /stopped while waiting/)
  await clock.advance(1000)
  await ownership[Symbol.asyncDispose]()
  await stopped
  assert.equal(clock.pending, 0)
})
