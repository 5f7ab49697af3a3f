import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { afterRunning } from './after-running.ts'

test('a process that runs waits for exactly this time', async () => {
  const clock = new ManualClock()
  let endedAt = 0
  afterRunning(clock, 1000, () => (endedAt = clock.monotonic()))
  await clock.advance(5000)
  assert.equal(endedAt, 1000)
})

test('a slice that ends a little late counts', async () => {
  const clock = new ManualClock()
  let endedAt = 0
  afterRunning(clock, 1000, () => (endedAt = clock.monotonic()))
  clock.freeze(140)
  await clock.advance(5000)
  assert.equal(endedAt, 1040)
})

test('a process that stood still right before the end has time to read what came meanwhile', async () => {
  for (const stoodStillMs of [100, 300, 450, 5000]) {
    const clock = new ManualClock()
    let hasEnded = false
    afterRunning(clock, 1000, () => (hasEnded = true))
    await clock.advance(950)
    clock.freeze(stoodStillMs)
    await clock.advance(50)
    assert.equal(hasEnded, false, `after ${stoodStillMs} ms`)
    await clock.advance(100)
    assert.equal(hasEnded, true, `after ${stoodStillMs} ms`)
  }
})

test('a process that is always late ends its wait after half of the time more', async () => {
  const clock = new ManualClock()
  let slices = 0
  let endedAfter = 0
  afterRunning(clock, 1000, () => (endedAfter = slices))
  while (slices < 30) {
    slices++
    clock.freeze(200)
    await clock.advance(0)
  }
  assert.equal(endedAfter, 15)
})

test('a cancelled wait runs nothing, also in a later slice', async () => {
  const clock = new ManualClock()
  let hasEnded = false
  const cancel = afterRunning(clock, 1000, () => (hasEnded = true))
  await clock.advance(450)
  cancel()
  assert.equal(clock.pending, 0)
  await clock.advance(5000)
  assert.equal(hasEnded, false)
})
