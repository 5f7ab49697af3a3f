// What follows a failed step of a job.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../core/downstream.ts'
import type { DownstreamFailure } from '../core/downstream.ts'
import { StorageError } from '../storage/engine/statement.ts'
import { isStorageAway } from '../storage/is-storage-away.ts'
import { judgeFailure, noFailures } from './helpdesk-failure.ts'

function failure(kind: DownstreamFailure, details?: ConstructorParameters<typeof DownstreamError>[2]) {
  return new DownstreamError(kind, 'no', details)
}

test('a helpdesk that is away is waited for without an end', () => {
  const counts = noFailures()
  for (let times = 0; times < 1000; times++) {
    counts.hasProbed = true
    assert.equal(judgeFailure(failure('destination'), counts).act, 'hold')
    assert.equal(judgeFailure(failure('transient'), counts).act, 'retry')
  }
})

test('a helpdesk that works but refuses the message again and again does not get it', () => {
  const counts = { ...noFailures(), hasProbed: true }
  const acts = [1, 2, 3].map(() => judgeFailure(failure('destination', { status: 403 }), counts).act)
  assert.deepEqual(acts, ['hold', 'hold', 'give_up'])
})

test('pauses grow to a minute, and the helpdesk may ask for longer ones', () => {
  const counts = noFailures()
  const first = judgeFailure(failure('transient'), counts)
  assert.ok(first.act === 'retry' && first.afterMs <= 1200)
  const asked = judgeFailure(failure('transient', { retryAfterMs: 90_000 }), counts)
  assert.deepEqual(asked, { act: 'retry', afterMs: 90_000 })
  for (let times = 0; times < 10; times++) judgeFailure(failure('transient'), counts)
  const late = judgeFailure(failure('transient'), counts)
  assert.ok(late.act === 'retry' && late.afterMs >= 48_000 && late.afterMs <= 72_000)
  assert.deepEqual(judgeFailure(failure('flood'), counts), { act: 'retry', afterMs: 60_000 })
})

test('conversations that keep disappearing are not replaced in a tight loop', () => {
  const counts = noFailures()
  const pauses = Array.from({ length: 5 }, () => judgeFailure(failure('gone'), counts))
  assert.deepEqual(
    pauses.map((action) => action.act === 'relocate' && action.afterMs > 0),
    [false, false, false, true, true],
  )
})

test('a message with an unknown fault is given up after ten tries, and one with a fault of ours at once', () => {
  const counts = noFailures()
  const acts = Array.from({ length: 10 }, () => judgeFailure(failure('unexplained'), counts).act)
  assert.deepEqual(acts, [...Array.from({ length: 9 }, () => 'retry'), 'give_up'])
  assert.equal(judgeFailure(failure('permanent'), noFailures()).act, 'give_up')
  assert.equal(judgeFailure(new TypeError('x is undefined'), noFailures()).act, 'give_up')
})

test('only storage that may answer later stops the run', () => {
  assert.equal(isStorageAway(new StorageError('unavailable', 'no')), true)
  assert.equal(isStorageAway(new StorageError('failed', 'no')), false)
  assert.equal(isStorageAway(failure('transient')), false)
  assert.equal(judgeFailure(new StorageError('failed', 'no'), noFailures()).act, 'retry')
})
