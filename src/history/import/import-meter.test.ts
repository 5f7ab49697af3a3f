// The progress of a job and the estimate of its end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noImportProgress } from '../../core/jobs/history-jobs.ts'
import type { ImportProgress } from '../../core/jobs/history-jobs.ts'
import { ImportMeter, messageCounts } from './import-meter.ts'

const params = { chat: null, count: 50, timeoutMs: 1000, days: 7, mediaDays: 0 }
const none = { posted: 0, skipped: 0, filtered: 0, error: 0, oldestAt: null, newestAt: null }
const outcomes = { imported: 0, skipped: 0, no_anchor: 0, error: 0 }
const zero = { seen: 0, kept: 0, posted: 0, skipped: 0, errors: 0, oldestAt: null, newestAt: null }

function meterOf(workload: { pending: number; unasked: number }, begun = {}) {
  const told: { last: ImportProgress } = { last: noImportProgress }
  const onProgress = (progress: ImportProgress) => {
    told.last = progress
  }
  const deps = { clock: { now: () => 1_000_000 }, ratePerSec: () => 5, onProgress }
  const meter = new ImportMeter(deps, { ...zero, chats: 2, done: 0, outcomes, ...begun }, workload, params)
  return { meter, told }
}

test('chats and messages are counted while they are imported', () => {
  const { meter, told } = meterOf({ pending: 3, unasked: 2 })
  meter.begin('chat', 7, none)
  for (const outcome of ['posted', 'skipped', 'filtered', 'error'] as const) meter.note('chat', outcome)
  assert.partialDeepStrictEqual(told.last, { done: 0, total: 2, seen: 7, kept: 4, posted: 1, skipped: 1, errors: 1 })
  meter.end('chat', { seen: 7, kept: 4, posted: 1, skipped: 1, errors: 1 })
  assert.partialDeepStrictEqual(told.last, { done: 1, total: 2, seen: 7, kept: 4, posted: 1, skipped: 1, errors: 1 })
})

test('a job that goes on after a restart counts what it did before', () => {
  const { meter, told } = meterOf({ pending: 1, unasked: 0 }, { done: 1, seen: 5, kept: 5, posted: 5 })
  meter.begin('chat', 0, { ...none, posted: 2 })
  meter.note('chat', 'posted')
  assert.partialDeepStrictEqual(told.last, { done: 1, total: 2, seen: 8, kept: 8, posted: 8, skipped: 0, errors: 0 })
})

test('the end is estimated from the messages that are left and from the chats that the phone is still asked about', () => {
  const { meter, told } = meterOf({ pending: 10, unasked: 2 })
  assert.equal(told.last.estimatedEndAt, 1_000_000 + (110 / 5) * 1000)
  meter.begin('one', 5, none)
  assert.equal(told.last.estimatedEndAt, 1_000_000 + (65 / 5) * 1000)
  meter.note('one', 'posted')
  assert.equal(told.last.estimatedEndAt, 1_000_000 + (64 / 5) * 1000)
})

test('every message that was kept was seen', () => {
  assert.equal(messageCounts(0, { ...none, posted: 3, filtered: 1 }).seen, 4)
  assert.equal(messageCounts(9, { ...none, posted: 3 }).seen, 9)
})
