import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InstanceMemory } from '../../test/app/harness/instance-memory.ts'
import { HoldingsBed, givenTo, other } from '../../test/harness/nodes/holdings-bed.ts'
import { waitUntil } from '../../test/harness/wait-until.ts'

async function online(): Promise<HoldingsBed> {
  const bed = HoldingsBed.begun()
  await bed.take('shop', 1)
  await bed.settle(100)
  assert.equal(bed.isOnline('shop'), true)
  bed.calls.length = 0
  return bed
}

test('an instance that is taken twice under one epoch is opened once', async () => {
  const bed = HoldingsBed.begun()
  await bed.take('shop', 1)
  await bed.take('shop', 1)
  await bed.settle(100)
  assert.deepEqual(bed.calls, ['take shop'])
  assert.equal(bed.network.opened.length, 1)
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'held', epoch: 1 })
})

test('an instance that is lost while it is taken does not connect', async () => {
  const bed = HoldingsBed.begun()
  const opening = Promise.withResolvers<undefined>()
  bed.onTake = () => opening.promise.then()
  const lost = new AbortController()
  const taking = bed.take('shop', 1, lost)
  await bed.settle()
  lost.abort()
  opening.resolve(undefined)
  await taking
  await bed.settle(1000)
  await bed.lose('shop')
  assert.equal(bed.network.opened.length, 0)
  assert.equal(bed.registry.has('shop'), false)
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'not_held', epoch: 0 })
})

test('a part that fails while an instance is taken leaves nothing open, and the next attempt opens it', async () => {
  const bed = HoldingsBed.begun()
  bed.onTake = () => Promise.reject(new Error('storage is away'))
  await assert.rejects(bed.take('shop', 1), /storage is away/)
  assert.equal(bed.registry.has('shop'), false)
  bed.onTake = () => Promise.resolve()
  await bed.take('shop', 1)
  await bed.settle(100)
  assert.equal(bed.isOnline('shop'), true)
})

test('the loss of an older epoch does not close what is held now', async () => {
  const bed = await online()
  const older = { instance: 'shop', node: 'self', epoch: 0 }
  await bed.holdings.lose(older)
  assert.equal(bed.isOnline('shop'), true)
  assert.equal(bed.holdings.standingOf('shop').standing, 'held')
})

test('an instance that is lost is leaving until it is closed, and is served under its next epoch', async () => {
  const bed = await online()
  const closing = Promise.withResolvers<undefined>()
  bed.onLeave = () => closing.promise.then()
  const losing = bed.lose('shop')
  await bed.settle()
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'leaving', epoch: 1 })
  assert.deepEqual([bed.holdings.served(), bed.holdings.servedCount], [[], 0])
  closing.resolve(undefined)
  await losing
  await bed.take('shop', 2)
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'held', epoch: 2 })
  assert.equal(bed.holdings.servedCount, 1)
})

test('a name that is deleted and created again is served under the epoch of the new instance', async () => {
  const bed = await online()
  await bed.lose('shop')
  assert.equal(bed.isOnline('shop'), false)
  await bed.take('shop', 2)
  await bed.settle(100)
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'held', epoch: 2 })
  assert.equal(bed.registry.get('shop').hold.epoch, 2)
  assert.equal(bed.isOnline('shop'), true)
})

test('an instance that a request creates is opened by that request', async () => {
  const bed = HoldingsBed.begun()
  const expected = bed.holdings.expect('shop')
  await bed.take('shop', 1)
  expected[Symbol.dispose]()
  await bed.settle(1000)
  assert.equal(bed.network.opened.length, 0)
  assert.equal(bed.holdings.standingOf('shop').standing, 'held')
})

test('a command to an instance that a request creates waits for no boot', async () => {
  const bed = HoldingsBed.begun()
  const expected = bed.holdings.expect('shop')
  await bed.take('shop', 1)
  expected[Symbol.dispose]()
  assert.equal(await bed.registry.get('shop').restart(), true)
  await bed.settle(100)
  assert.equal(bed.isOnline('shop'), true)
})

test('a restart before the start is over opens one connection', async () => {
  const bed = new HoldingsBed()
  await bed.take('shop', 1)
  const restarted = bed.registry.get('shop').restart()
  await bed.settle(100)
  bed.holdings.begin()
  assert.equal(await restarted, true)
  await bed.settle(1000)
  assert.equal(bed.network.opened.filter(({ isOpen }) => isOpen).length, 1)
})

test('of many that are taken, each connects within its part of the time: first those whose messages wait', async () => {
  const bed = HoldingsBed.begun()
  bed.waiting = ['b0', 'b1']
  const names = ['a0', 'b0', 'a1', 'a2', 'a3', 'a4', 'b1', 'a5', 'a6', 'a7']
  await Promise.all(names.map((name, index) => bed.take(name, index + 1)))
  await bed.settle()
  assert.equal(bed.network.opened.length, 0)
  await bed.settle(1500)
  const opened = bed.network.opened.map(({ sessionId }) => sessionId.replace('session of ', ''))
  assert.deepEqual(opened.slice(0, 2).sort(), ['b0', 'b1'])
  assert.equal(opened.length, names.length)
})

test('as many as move at the same time connect at once', async () => {
  const bed = HoldingsBed.begun()
  bed.random = 1
  const names = Array.from({ length: 8 }, (_, index) => `shop-${index}`)
  await Promise.all(names.map((name, index) => bed.take(name, index + 1)))
  await bed.settle()
  assert.deepEqual(names.map((name) => bed.isOnline(name)).includes(false), false)
})

test('instances that come after the start are those of other nodes', async () => {
  const bed = new HoldingsBed()
  await bed.take('shop', 1)
  bed.holdings.begin()
  await bed.settle(100)
  assert.deepEqual([bed.isOnline('shop'), bed.holdings.isTakingOver], [true, false])
  await bed.take('bar', 2)
  assert.equal(bed.holdings.isTakingOver, true)
  await bed.settle(30_000)
  assert.equal(bed.holdings.isTakingOver, false)
})

test('work under way ends while the account is online; then it closes, every part leaves, and one commit names the other node', async () => {
  const bed = await online()
  const sending = Promise.withResolvers<undefined>()
  bed.onRest = () => sending.promise.then()
  const giving = bed.giveAway('shop')
  await bed.settle(1000)
  assert.equal(bed.holdings.standingOf('shop').standing, 'leaving')
  assert.deepEqual([bed.holdings.served(), bed.holdings.servedCount], [[], 0])
  assert.equal(bed.isOnline('shop'), true)
  assert.deepEqual(bed.calls, ['rest shop online'])
  bed.onHandOver = (hold) => {
    assert.equal(bed.isOnline('shop'), false, 'the connection is closed before the commit')
    return Promise.resolve(givenTo(other.id, hold))
  }
  sending.resolve(undefined)
  assert.equal(await giving, 'tried')
  assert.deepEqual(bed.calls, ['rest shop online', 'leave shop', 'commit', 'tell other'])
  await bed.lose('shop')
  assert.deepEqual(bed.holdings.standingOf('shop'), { standing: 'not_held', epoch: 0 })
})

test('work that takes longer than 1.5 s is not waited for', async () => {
  const bed = await online()
  bed.onRest = () => new Promise(() => undefined)
  const giving = bed.giveAway('shop')
  await bed.settle(1499)
  assert.equal(bed.isOnline('shop'), true)
  await bed.settle(1)
  assert.equal(await giving, 'tried')
  assert.equal(bed.isOnline('shop'), false)
})

test('a commit whose answer is lost is repeated, and the instance is not opened here again', async () => {
  const bed = await online()
  let commits = 0
  // The first one goes through, so the second one finds a stale hold.
  bed.onHandOver = () => (commits++ === 0 ? Promise.reject(new Error('no answer')) : Promise.resolve(undefined))
  const giving = bed.giveAway('shop')
  await bed.settle(5000)
  assert.equal(await giving, 'tried')
  await bed.settle(60_000)
  assert.deepEqual([commits, bed.network.opened.length], [2, 1])
  assert.equal(bed.calls.includes('tell other'), false)
})

test('an instance that is lost while its commit fails is not waited for', async () => {
  const bed = await online()
  bed.onHandOver = () => Promise.reject(new Error('storage is away'))
  const lost = new AbortController()
  const giving = bed.giveAway('shop', lost)
  await bed.settle(10_000)
  lost.abort()
  assert.equal(await giving, 'tried')
  await bed.lose('shop')
  assert.equal(bed.registry.has('shop'), false)
})

test('what cannot be stored while an instance is closed is tried again, and does not keep the instance here', async () => {
  const bed = await online()
  bed.onLeave = () => Promise.reject(new Error('the counts are not stored'))
  const giving = bed.giveAway('shop')
  for (let second = 0; second < 30; second++) await bed.settle(1000)
  assert.equal(await giving, 'tried')
  assert.deepEqual([bed.calls.filter((call) => call === 'leave shop').length, bed.calls.at(-1)], [6, 'tell other'])
})

test('a pinned instance is not touched', async () => {
  const bed = await online()
  bed.isPinned = true
  assert.equal(await bed.giveAway('shop'), 'not_now')
  assert.deepEqual([bed.calls, bed.isOnline('shop')], [[], true])
  assert.equal(bed.holdings.standingOf('shop').standing, 'held')
})

test('after the end nothing is taken or given away any more', async () => {
  const bed = await online()
  bed.holdings.end()
  assert.equal(await bed.giveAway('shop'), 'tried')
  await bed.take('bar', 2)
  assert.deepEqual([bed.calls, bed.registry.has('bar')], [[], false])
})

test('connections that are cut off come back, also that of an instance which was taken meanwhile', async () => {
  const bed = await online()
  bed.holdings.isolated(true)
  await bed.settle()
  assert.equal(bed.isOnline('shop'), false)
  await bed.take('bar', 2)
  bed.holdings.isolated(false)
  await bed.settle(1000)
  assert.deepEqual([bed.isOnline('shop'), bed.isOnline('bar')], [true, true])
})

test('a session that is only logged out is closed, too, when the node is cut off', async () => {
  const bed = HoldingsBed.begun()
  bed.network.stored.set('old', 'jid')
  bed.pendingLogouts.add({
    sessionId: 'old',
    instance: 'gone',
    ownerTag: '',
    askedAt: bed.clock.now(),
    networkProxy: null,
  })
  await bed.settle()
  assert.equal(bed.network.last.isOpen, true)
  bed.holdings.isolated(true)
  await bed.settle()
  assert.equal(bed.network.last.isOpen, false)
})

test('after 1,000 moves to another node and back, nothing remembers the instance', async () => {
  const name = 'wanderer-7c1d'
  using memory = new InstanceMemory(name)
  const here = HoldingsBed.begun()
  const there = HoldingsBed.begun(here.clock)
  for (let move = 0; move < 1000; move++) {
    const [giver, taker] = move % 2 === 0 ? [here, there] : [there, here]
    if (move === 0) await giver.take(name, 1)
    await giver.giveAway(name)
    await giver.lose(name)
    await taker.take(name, move + 2)
  }
  await here.lose(name)
  for (const bed of [here, there]) {
    bed.rows.clear()
    bed.calls.length = 0
    bed.network.opened.length = 0
  }
  await here.settle(60_000)
  await waitUntil('nothing remembers it', async () => (await memory.files()).length === 0, {
    instead: () => memory.files(),
  })
  assert.equal(here.clock.pending, 0)
})
