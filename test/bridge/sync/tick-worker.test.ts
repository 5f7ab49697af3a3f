// The helpdesk is told of each tick, also after failures, and never of an earlier one after a later one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { DownstreamFailure } from '../../../src/core/downstream.ts'
import { TickBed } from './harness/tick-bed.ts'

const hour = 3_600_000

function refuse(failure: DownstreamFailure, retryAfterMs: number | null = null): () => Promise<void> {
  return () => Promise.reject(new DownstreamError(failure, 'no', { retryAfterMs }))
}

async function settled(bed: TickBed, ms = 0): Promise<void> {
  await bed.pass(ms)
  await bed.pass(0)
}

/** As the ticker of the service does. */
async function nextRun(bed: TickBed, ms: number): Promise<void> {
  await bed.pass(ms)
  await bed.worker.run()
  await bed.pass(0)
}

test('a message that is read while it is shown as delivered is shown as read next', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  const held = Promise.withResolvers<undefined>()
  bed.beforeStatus = async () => {
    await held.promise
  }
  bed.receive(['w1'], { type: 'delivered' })
  await settled(bed, 100)
  bed.receive(['w1'])
  await settled(bed, 100)
  held.resolve(undefined)
  await settled(bed)
  assert.deepEqual([bed.set, bed.counted], [['6 delivered', '6 read'], { ok: 2 }])
})

test('a failed attempt is counted once and repeated, and its success is not counted again', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  bed.beforeStatus = refuse('transient')
  bed.receive(['w1'])
  await settled(bed, 100)
  await nextRun(bed, 30_000)
  assert.deepEqual([bed.counted, bed.failures], [{ ds_error: 1 }, 1])
  bed.beforeStatus = () => Promise.resolve()
  await nextRun(bed, 30_000)
  assert.deepEqual([bed.set, bed.counted, bed.failures], [['6 read'], { ds_error: 1 }, 1])
})

test('a repeated receipt shares the failure of the earlier one until the helpdesk was told', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  bed.beforeStatus = refuse('transient')
  bed.receive(['w1'])
  await settled(bed, 100)
  bed.receive(['w1'])
  await settled(bed, 100)
  assert.deepEqual([bed.counted, bed.failures], [{ ds_error: 2 }, 1])
  bed.beforeStatus = () => Promise.resolve()
  await nextRun(bed, 30_000)
  bed.receive(['w1'])
  await settled(bed, 100)
  assert.deepEqual([bed.set, bed.counted], [['6 read'], { ds_error: 2, ok: 1 }])
})

test('a helpdesk that stays away is given up after a day', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  let attempts = 0
  bed.beforeStatus = () => {
    attempts += 1
    return refuse('destination')()
  }
  bed.receive(['w1'])
  await settled(bed, 100)
  await nextRun(bed, 23 * hour)
  await nextRun(bed, 2 * hour)
  assert.equal(attempts, 3)
  await nextRun(bed, hour)
  assert.deepEqual([attempts, bed.counted, bed.failures], [3, { ds_error: 1 }, 1])
})

test('a refusal that will not change is not repeated', async () => {
  for (const [failure, result] of [
    ['permanent', 'ds_error'],
    ['unexplained', 'ds_error'],
    ['gone', 'no_conv'],
  ] as const) {
    await using bed = await TickBed.open()
    await bed.map('w1', { messageId: 6 })
    bed.beforeStatus = refuse(failure)
    bed.receive(['w1'])
    await settled(bed, 100)
    bed.beforeStatus = () => Promise.resolve()
    await nextRun(bed, hour)
    assert.deepEqual([bed.set, bed.counted], [[], { [result]: 1 }])
  }
})

test('the flood limit of a conversation delays its messages by a minute, and no other', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6, conversationId: 5 })
  await bed.map('w2', { messageId: 7, conversationId: 8 })
  bed.beforeStatus = (conversationId) => (conversationId === 5 ? refuse('flood')() : Promise.resolve())
  bed.receive(['w1', 'w2'])
  await settled(bed, 100)
  assert.deepEqual([bed.set, bed.counted, bed.failures], [['7 read'], { ok: 1 }, 0])
  bed.beforeStatus = () => Promise.resolve()
  await nextRun(bed, 59_000)
  assert.equal(bed.set.length, 1)
  await nextRun(bed, 2000)
  assert.deepEqual([bed.set, bed.counted], [['7 read', '6 read'], { ok: 2 }])
})

test('a destination gets at most four requests at a time, and a silent one delays no other', async () => {
  await using bed = await TickBed.open()
  const silent = Promise.withResolvers<undefined>()
  let open = 0
  bed.beforeStatus = async (_, messageId) => {
    open += 1
    if (messageId < 1000) await silent.promise
  }
  const slow = Array.from({ length: 300 }, (_, n) => `s${n}`)
  for (const [n, id] of slow.entries()) await bed.map(id, { messageId: n + 1 })
  await bed.map('q1', { messageId: 1000, destination: 'quick' })
  bed.receive(slow)
  await settled(bed, 100)
  bed.receive(['q1'], { instance: 'quick' })
  await settled(bed, 100)
  assert.deepEqual([open, bed.set], [5, ['1000 read']])
  silent.resolve(undefined)
  for (let round = 0; round < 100 && bed.set.length < 301; round++) await bed.pass(0)
  assert.equal(new Set(bed.set).size, 301)
  assert.ok(bed.dueReads < 60, `the database was asked ${bed.dueReads} times what is due`)
})

test('another process goes on with what was due, and counts it', async () => {
  await using bed = await TickBed.open()
  await bed.map('w1', { messageId: 6 })
  await bed.stores.ticks.report('a', { delivered: [], read: ['w1'] }, bed.clock.now() - 1000)
  await bed.worker.run()
  await settled(bed)
  assert.deepEqual([bed.set, bed.counted], [['6 read'], { ok: 1 }])
})
