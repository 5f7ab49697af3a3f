import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Readiness } from './readiness.ts'

test('a process stands by only when an owner was named, and after longer than a lease lasts', async () => {
  const clock = new ManualClock()
  const ownership = { state: 'standby' as const, serves: false, isRefused: false }
  const readiness = new Readiness({ ownership, clock, nodeTrouble: () => null })
  assert.equal(readiness.phase, 'starting')
  await clock.advance(6400)
  ownership.isRefused = true
  assert.equal(readiness.phase, 'starting')
  ownership.isRefused = false
  await clock.advance(600)
  assert.deepEqual([readiness.phase, readiness.shown], ['starting', 'starting'], 'the database does not answer')
  ownership.isRefused = true
  assert.equal(readiness.phase, 'standby')
})
