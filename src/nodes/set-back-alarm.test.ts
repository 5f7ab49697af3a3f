import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { SetBackAlarm } from './set-back-alarm.ts'

test('a database that was set back is told for a day', async () => {
  const clock = new ManualClock()
  const alarm = new SetBackAlarm(clock)
  assert.equal(alarm.at, null)
  const at = clock.now()
  alarm.note()
  await clock.advance(86_399_999)
  assert.equal(alarm.at, at)
  await clock.advance(1)
  assert.equal(alarm.at, null)
})
