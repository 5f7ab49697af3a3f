import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { retryUntil } from './retry.ts'

const pauses = { firstMs: 1000, ceilingMs: 4000 }

test('work is repeated with growing pauses until it succeeds', async () => {
  const clock = new ManualClock()
  const seen: number[] = []
  let calls = 0
  const work = () => (++calls < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve('done'))
  const onFailure = (_: unknown, failures: number) => seen.push(failures)
  const result = retryUntil({ clock, signal: new AbortController().signal, pauses, onFailure }, work)
  await clock.advance(10_000)
  assert.deepEqual(await result, { value: 'done' })
  assert.deepEqual(seen, [0, 1])
})

test('an abort ends the repetition during a pause', async () => {
  const clock = new ManualClock()
  const stop = new AbortController()
  const onFailure = () => {
    stop.abort()
  }
  const work = () => Promise.reject(new Error('not yet'))
  assert.equal(await retryUntil({ clock, signal: stop.signal, pauses, onFailure }, work), undefined)
})

test('an error thrown by onFailure ends the repetition', async () => {
  const clock = new ManualClock()
  const onFailure = (error: unknown) => {
    throw error
  }
  const work = () => Promise.reject(new Error('for good'))
  const result = retryUntil({ clock, signal: new AbortController().signal, pauses, onFailure }, work)
  await assert.rejects(result, /for good/)
})
