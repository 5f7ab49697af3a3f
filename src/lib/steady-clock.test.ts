import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { SteadyClock } from './steady-clock.ts'

const hour = 3_600_000

for (const byMs of [hour, -hour]) {
  test(`a clock that jumps by ${byMs} ms and back leaves the time as it was`, async () => {
    const clock = new ManualClock()
    const steady = new SteadyClock(clock)
    const before = steady.now()
    clock.set(byMs)
    assert.equal(steady.now(), before)
    await clock.advance(30_000)
    assert.equal(steady.now(), before + 30_000)
    clock.set(-byMs)
    assert.equal(steady.now(), before + 30_000)
    await clock.advance(59_000)
    clock.set(byMs)
    assert.equal(steady.now(), before + 89_000, 'a second jump begins a minute of its own')
  })

  test(`a clock that stays ${byMs} ms away is right after a minute`, async () => {
    const clock = new ManualClock()
    const steady = new SteadyClock(clock)
    clock.set(byMs)
    steady.now()
    await clock.advance(60_000)
    assert.equal(steady.now(), clock.now())
    await clock.advance(1000)
    assert.equal(steady.now(), clock.now())
  })
}

test('a clock that is corrected slowly is followed', async () => {
  const clock = new ManualClock()
  const steady = new SteadyClock(clock)
  for (let n = 0; n < 20; n++) {
    clock.set(5000)
    await clock.advance(1000)
    assert.equal(steady.now(), clock.now())
  }
})

test('during a jump the time is in whole milliseconds, as databases store it', () => {
  const clock = new ManualClock()
  let jumpMs = 0
  let passedMs = 0.3
  const steady = new SteadyClock({
    now: () => clock.now() + jumpMs,
    monotonic: () => clock.monotonic() + passedMs,
    after: clock.after.bind(clock),
  })
  const before = steady.now()
  jumpMs = hour
  passedMs = 1000.7
  assert.equal(steady.now(), before + 1000)
})
