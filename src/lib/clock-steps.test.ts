import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClockSteps } from './clock-steps.ts'

test('a clock that is put back is noticed once, and one that runs or is put forward is not', () => {
  let [now, monotonic] = [1_000_000, 0]
  const steps = new ClockSteps({ now: () => now, monotonic: () => monotonic })
  const pass = (ms: number) => {
    now += ms
    monotonic += ms
  }
  pass(5000)
  assert.equal(steps.backMs(), 0)
  now += 3_600_000
  assert.equal(steps.backMs(), 0)
  pass(5000)
  now -= 3_600_000
  assert.equal(steps.backMs(), 3_600_000)
  pass(5000)
  assert.equal(steps.backMs(), 0)
  now -= 500
  assert.equal(steps.backMs(), 0, 'a small correction')
})
