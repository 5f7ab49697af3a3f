import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { LastReading } from './last-reading.ts'

function setUp() {
  const clock = new ManualClock()
  const reads: PromiseWithResolvers<number>[] = []
  const read = () => {
    const next = Promise.withResolvers<number>()
    reads.push(next)
    return next.promise
  }
  return { clock, reads, reading: new LastReading({ read, clock, freshMs: 1000, deadlineMs: 2000 }) }
}

test('callers share one read, and its result counts for a moment', async () => {
  const { clock, reads, reading } = setUp()
  const asked = [reading.find(), reading.find()]
  reads[0]?.resolve(7)
  assert.deepEqual(await Promise.all(asked), [7, 7])
  await clock.advance(999)
  assert.equal(await reading.find(), 7)
  assert.equal(reads.length, 1)
  await clock.advance(1)
  const later = reading.find()
  reads[1]?.resolve(8)
  assert.equal(await later, 8)
})

test('a caller of a read that takes too long gets the last result, and the read goes on', async () => {
  const { clock, reads, reading } = setUp()
  const first = reading.find()
  await clock.advance(2000)
  assert.equal(await first, undefined)
  const second = reading.find()
  assert.equal(reads.length, 1, 'a second read does not begin')
  reads[0]?.resolve(7)
  assert.equal(await second, 7)
  assert.equal(clock.pending, 0, 'no timer is left')
})

test('after a read that failed the last result counts, and the next caller reads again', async () => {
  const { clock, reads, reading } = setUp()
  const first = reading.find()
  reads[0]?.resolve(7)
  await first
  await clock.advance(1000)
  const second = reading.find()
  reads[1]?.reject(new Error('away'))
  assert.equal(await second, 7)
  const third = reading.find()
  reads[2]?.resolve(9)
  assert.equal(await third, 9)
})
