import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { CountedTime } from './counted-time.ts'

function setUp() {
  const clock = new ManualClock()
  const state = { isAway: false, slices: 0 }
  const time = new CountedTime({ clock, counts: () => !state.isAway, onSlice: () => state.slices++ })
  return { clock, state, time }
}

test('time counts while it runs, to the millisecond', async () => {
  const { clock, time } = setUp()
  await clock.advance(5000)
  assert.equal(time.ms, 0)
  time.start()
  await clock.advance(2500)
  time.start()
  assert.equal(time.ms, 2500)
  time.stop()
  await clock.advance(5000)
  assert.equal(time.ms, 2500)
  assert.equal(clock.pending, 0)
})

test('the time in which a part is away does not count', async () => {
  const { clock, state, time } = setUp()
  time.start()
  await clock.advance(3000)
  state.isAway = true
  await clock.advance(60_000)
  assert.equal(time.ms, 3000)
  state.isAway = false
  await clock.advance(1000)
  assert.equal(time.ms, 4000)
})

test('a freeze of any length counts as one slice', async () => {
  const { clock, state, time } = setUp()
  time.start()
  clock.freeze(3_600_000)
  await clock.advance(0)
  assert.deepEqual([time.ms, state.slices], [1000, 1])
  await clock.advance(1000)
  assert.deepEqual([time.ms, state.slices], [2000, 2])
})
