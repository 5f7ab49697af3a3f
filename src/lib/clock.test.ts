import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { sleep, systemClock, withDeadline, withPausableDeadline } from './clock.ts'

test('a sleep ends when its time is over', async () => {
  const clock = new ManualClock()
  let awake = false
  const sleeping = sleep(clock, 1000).then(() => (awake = true))
  await clock.advance(999)
  assert.equal(awake, false)
  await clock.advance(1)
  await sleeping
  assert.equal(awake, true)
})

test('an aborted sleep ends at once and leaves no timer', async () => {
  const clock = new ManualClock()
  const stop = new AbortController()
  const sleeping = sleep(clock, 1000, stop.signal)
  stop.abort()
  await sleeping
  await sleep(clock, 1000, stop.signal)
  assert.equal(clock.pending, 0)
})

test('a deadline lets quick work through and leaves no timer', async () => {
  const clock = new ManualClock()
  assert.equal(await withDeadline(clock, 1000, Promise.resolve('done'), () => new Error('late')), 'done')
  await assert.rejects(
    withDeadline(clock, 1000, Promise.reject(new Error('broken')), () => new Error('late')),
    /broken/,
  )
  await clock.advance(0)
  assert.equal(clock.pending, 0)
})

test('a deadline rejects when the work takes longer', async () => {
  const clock = new ManualClock()
  const never = new Promise<string>(() => undefined)
  const late = assert.rejects(
    withDeadline(clock, 1000, never, () => new Error('late')),
    /late/,
  )
  await clock.advance(1000)
  await late
})

test('the system clock gives real time and cancels timers', async () => {
  assert.ok(Math.abs(systemClock.now() - Date.now()) < 1000)
  let ran = false
  systemClock.after(1, () => (ran = true))()
  await sleep(systemClock, 20)
  assert.equal(ran, false)
})

test('a timer longer than Node supports fires when it is due', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const longest = 2 ** 31 - 1
    let fired = 0
    systemClock.after(2 * longest + 5, () => fired++)
    const cancel = systemClock.after(2 * longest + 5, () => fired++)
    const cancelNever = systemClock.after(Infinity, () => fired++)
    mock.timers.tick(longest)
    cancel()
    mock.timers.tick(longest)
    mock.timers.tick(4)
    assert.equal(fired, 0)
    mock.timers.tick(1)
    assert.equal(fired, 1)
    mock.timers.tick(longest)
    assert.equal(fired, 1)
    cancelNever()
  } finally {
    mock.timers.reset()
  }
})

test('time that work waits in a queue does not count against its deadline', async () => {
  const clock = new ManualClock()
  const place = Promise.withResolvers<undefined>()
  const work = withPausableDeadline(
    clock,
    1000,
    async (withoutDeadline) => {
      await sleep(clock, 900)
      await withoutDeadline(() => place.promise)
      await sleep(clock, 900)
      return 'done'
    },
    () => new Error('late'),
  )
  await clock.advance(900)
  await clock.advance(50_000)
  place.resolve(undefined)
  await clock.advance(900)
  assert.equal(await work, 'done')
})

test('before and after the queue the deadline holds', async () => {
  for (const [before, after] of [
    [1001, 0],
    [0, 1001],
  ] as const) {
    const clock = new ManualClock()
    const work = withPausableDeadline(
      clock,
      1000,
      async (withoutDeadline) => {
        await sleep(clock, before)
        await withoutDeadline(() => sleep(clock, 5000))
        await sleep(clock, after)
      },
      () => new Error('late'),
    )
    const refused = assert.rejects(work, /late/)
    await clock.advance(1000)
    await clock.advance(6000)
    await clock.advance(1000)
    await refused
  }
})
