import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Readiness } from './readiness.ts'

test('a process stands by only when a living owner refused it for longer than a lease lasts', async () => {
  const clock = new ManualClock()
  const ownership = { state: 'standby' as const, serves: false, isRefused: true }
  const readiness = new Readiness({ ownership, clock })
  assert.equal(readiness.phase, 'starting')
  await clock.advance(7000)
  assert.equal(readiness.phase, 'standby')
  // The database does not answer any more.
  ownership.isRefused = false
  assert.deepEqual([readiness.phase, readiness.shown], ['starting', 'starting'])
})
