import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ArrivalOrder } from './arrival-order.ts'

const stallMs = 30_000

const never = new AbortController().signal

function orderOn(clock: ManualClock, isStorageAway = () => false): ArrivalOrder {
  return new ArrivalOrder({ clock, isStorageAway, gone: never })
}

async function isSettled(promise: Promise<void> | undefined): Promise<boolean> {
  let settled = false
  void promise?.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

test('a message waits for the one before it in its chat, and for no other', async () => {
  const order = orderOn(new ManualClock())
  const [first, second, elsewhere] = [{}, {}, {}]
  assert.equal(order.expect('a', [first], false), undefined)
  const turn = order.expect('a', [second], false)
  assert.equal(order.expect('b', [elsewhere], false), undefined)
  assert.equal(await isSettled(turn), false)
  order.done(first)
  assert.equal(await isSettled(turn), true)
})

test('one that is never opened holds up the next for 30 s and leaves no timer behind', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  void order.expect('a', [{}], true)
  const turn = order.expect('a', [{}], false)
  await clock.advance(stallMs - 1)
  assert.equal(await isSettled(turn), false)
  await clock.advance(1)
  assert.equal(await isSettled(turn), true)
  assert.equal(order.isBehind, false)
  assert.equal(clock.pending, 0)
})

test('one that is opened after such a stall is not waited for any more', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  const [late, next] = [{}, {}]
  void order.expect('a', [late], false)
  const notice = order.afterEarlier()
  await clock.advance(stallMs)
  await notice
  order.done(late)
  assert.equal(order.expect('a', [next], false), undefined)
})

test('a backlog that takes longer than that keeps its place, as long as something of it is opened', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  const backlog = Array.from({ length: 5 }, () => ({}))
  for (const [index, each] of backlog.entries()) void order.expect(`chat ${index}`, [each], true)
  const notice = order.afterEarlier()
  const [live, next] = [{}, {}]
  const waits = order.afterEarlier()
  void order.expect('a', [live], false)
  const turn = order.expect('a', [next], false)
  for (const each of backlog) {
    await clock.advance(stallMs - 1)
    assert.deepEqual([await isSettled(notice), await isSettled(waits), await isSettled(turn)], [false, false, false])
    order.done(each)
  }
  assert.deepEqual([await isSettled(notice), await isSettled(waits), await isSettled(turn)], [true, true, false])
  await clock.advance(stallMs - 1)
  order.done(live)
  assert.equal(await isSettled(turn), true)
  assert.equal(clock.pending, 0)
})

test('what came later is no reason to wait longer', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  void order.expect('a', [{}], false)
  const turn = order.expect('a', [{}], false)
  for (let passed = 0; passed < stallMs; passed += 10_000) {
    const other = {}
    void order.expect('b', [other], false)
    order.done(other)
    await clock.advance(10_000)
  }
  assert.equal(await isSettled(turn), true)
})

test('time does not count while storage is away', async () => {
  const clock = new ManualClock()
  let isAway = true
  const order = orderOn(clock, () => isAway)
  void order.expect('a', [{}], true)
  const turn = order.afterEarlier()
  await clock.advance(10 * stallMs)
  assert.equal(await isSettled(turn), false)
  isAway = false
  await clock.advance(stallMs - 1000)
  assert.equal(await isSettled(turn), false)
  await clock.advance(1000)
  assert.equal(await isSettled(turn), true)
})

test('a process that was frozen still waits', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  const first = {}
  void order.expect('a', [first], true)
  const turn = order.afterEarlier()
  clock.freeze(2 * stallMs)
  await clock.advance(0)
  assert.equal(await isSettled(turn), false)
  order.done(first)
  assert.equal(await isSettled(turn), true)
})

test('nothing is left behind when the connection ends', () => {
  const clock = new ManualClock()
  const over = new AbortController()
  const order = new ArrivalOrder({ clock, isStorageAway: () => true, gone: over.signal })
  void order.expect('a', [{}], true)
  void order.afterEarlier()
  over.abort()
  void order.afterEarlier()
  assert.equal(clock.pending, 0)
})

test('a live message waits for the part of the backlog that has not come yet, and for no later live message', async () => {
  const order = orderOn(new ManualClock())
  const [first, live, last] = [{}, {}, {}]
  order.backlogBegins()
  void order.expect('a', [first], true)
  const turn = order.afterEarlier()
  void order.expect('b', [live], false)
  void order.expect('a', [last], true)
  void order.expect('c', [{}], false)
  order.done(first)
  order.backlogEnds()
  assert.equal(await isSettled(turn), false)
  order.done(last)
  assert.equal(await isSettled(turn), true)
})

test('a notice of the backlog waits for the backlog before it, not for a live message', async () => {
  const order = orderOn(new ManualClock())
  const earlier = {}
  order.backlogBegins()
  void order.expect('a', [{}], false)
  void order.expect('b', [earlier], true)
  const turn = order.afterEarlierBacklog()
  void order.expect('b', [{}], true)
  assert.equal(await isSettled(turn), false)
  order.done(earlier)
  assert.equal(await isSettled(turn), true)
})

test('while the backlog is being opened a live message goes on waiting, however long that takes', async () => {
  const clock = new ManualClock()
  const order = orderOn(clock)
  const waiting = Array.from({ length: 5 }, () => ({}))
  order.backlogBegins()
  const turn = order.afterEarlier()
  for (const one of waiting) {
    void order.expect('a', [one], true)
    await clock.advance(stallMs - 1000)
    order.done(one)
  }
  assert.equal(await isSettled(turn), false)
  order.backlogEnds()
  assert.equal(await isSettled(turn), true)
  assert.equal(clock.pending, 0)
})
