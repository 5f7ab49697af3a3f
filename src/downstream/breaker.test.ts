import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../core/downstream.ts'
import { Breakers } from './breaker.ts'

test('the rest of a helpdesk is counted in whole milliseconds, also in the error of a call that is not made', async () => {
  let now = 0.25
  const breakers = new Breakers({ clock: { monotonic: () => now }, random: () => 0.5 })
  const call = () => Promise.reject(new DownstreamError('destination', 'away'))
  for (let n = 0; n < 5; n++) await assert.rejects(breakers.watch('desk', call))
  now = 1.125
  const [resting] = breakers.resting
  assert.ok(resting && resting.forMs > 0 && Number.isInteger(resting.forMs))
  await assert.rejects(breakers.run('desk', call, call), { retryAfterMs: resting.forMs })
})
