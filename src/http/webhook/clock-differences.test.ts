import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ClockDifferences } from './clock-differences.ts'

const day = 24 * 3_600_000

test('a difference is listed until a callback is accepted, none was refused for a day, or the instance leaves', async () => {
  const clock = new ManualClock()
  const clocks = new ClockDifferences({ clock, log: new RecordedLog().log })
  const names = () => clocks.list().map(({ instance }) => instance)
  for (const instance of ['accepted', 'deleted', 'silent', 'refused']) clocks.refused(instance, 400_000)
  clocks.agreed('accepted')
  clocks.leave('deleted')
  assert.deepEqual(names(), ['silent', 'refused'])
  await clock.advance(day)
  clocks.refused('refused', -500_000)
  await clock.advance(1)
  const since = clock.now() - day - 1
  const [shown, ...more] = clocks.list()
  assert.deepEqual([shown?.aheadMs, shown?.since, more], [-500_000, since, []])
  assert.match(shown?.cure ?? '', /set the clocks of both machines/)
})
