import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { DatabaseProbe } from './database-probe.ts'

test('a database that was just opened has answered; after that each second counts', async () => {
  const clock = new ManualClock()
  let fails = true
  const ping = () => (fails ? Promise.reject(new Error('away')) : Promise.resolve())
  await using probe = new DatabaseProbe({ database: { ping }, clock, log: silentLog })
  assert.deepEqual(probe.state, { ok: true, latencyMs: 0, ageMs: 0 })
  probe.start()
  await clock.advance(2_000)
  assert.deepEqual(probe.state, { ok: false, latencyMs: 0, ageMs: 2_000 })
  fails = false
  await clock.advance(1_000)
  assert.deepEqual(probe.state, { ok: true, latencyMs: 0, ageMs: 0 })
})
