import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { capacityAfter, noteSample, quick } from './capacity.ts'
import type { LoadSample } from './capacity.ts'

const capacityOf = (base: number, all: readonly LoadSample[]) => capacityAfter(base, all.reduce(noteSample, quick))

/** A sample a second. */
function samples(seconds: number, more: Partial<LoadSample> = {}, from = 0): LoadSample[] {
  return Array.from({ length: seconds }, (_, second) => ({
    ...{ at: (from + second) * 1000, loopDelayP99Ms: 20, beatMs: 5 },
    ...more,
  }))
}

const slowLoop = { loopDelayP99Ms: 501 }
const slowBeat = { beatMs: 1001 }

test('a node that is slow for ten seconds loses a quarter of its capacity', () => {
  assert.equal(capacityOf(100, samples(10, slowLoop)), 100)
  assert.equal(capacityOf(100, samples(11, slowLoop)), 75)
  assert.equal(capacityOf(100, samples(11, slowBeat)), 75)
  assert.equal(capacityOf(100, [...samples(6, slowLoop), ...samples(5, slowBeat, 6)]), 75)
})

test('it loses another quarter with every ten seconds more, and never goes below 25', () => {
  assert.equal(capacityOf(100, samples(21, slowLoop)), 56)
  assert.equal(capacityOf(100, samples(31, slowLoop)), 42)
  assert.equal(capacityOf(100, samples(600, slowLoop)), 25)
  assert.equal(capacityOf(10, samples(600, slowLoop)), 10)
})

test('a moment of slowness changes nothing', () => {
  const limits = samples(600, { loopDelayP99Ms: 500, beatMs: 1000 })
  assert.equal(capacityOf(100, limits), 100)
  const moments = samples(600).map((sample, second) => (second % 10 === 9 ? sample : { ...sample, ...slowLoop }))
  assert.equal(capacityOf(100, moments), 100)
})

test('ten quiet minutes give everything back, and a slow moment begins them anew', () => {
  const slow = samples(31, slowLoop)
  assert.equal(capacityOf(100, [...slow, ...samples(599, {}, 31)]), 42)
  assert.equal(capacityOf(100, [...slow, ...samples(600, {}, 31)]), 100)
  const disturbed = [...slow, ...samples(300, {}, 31), ...samples(1, slowLoop, 331), ...samples(599, {}, 332)]
  assert.equal(capacityOf(100, disturbed), 42)
})

test('a loop that stood still and left out samples counts as slow for that time', () => {
  const stuck = [0, 6, 12].map((second) => ({ at: second * 1000, loopDelayP99Ms: 6000, beatMs: 5 }))
  assert.equal(capacityOf(100, stuck), 75)
})

test('the capacity stays between 25 and its base, and a cell keeps none', () => {
  const drawn = fc.array(fc.record({ loopDelayP99Ms: fc.integer({ max: 900 }), beatMs: fc.integer({ max: 1900 }) }))
  fc.assert(
    fc.property(fc.integer({ min: 25, max: 1000 }), drawn, (base, values) => {
      const capacity = capacityOf(
        base,
        values.map((value, second) => ({ ...value, at: second * 5000 })),
      )
      assert.ok(Number.isInteger(capacity) && capacity >= 25 && capacity <= base)
    }),
  )
  assert.equal(capacityOf(0, samples(600, slowLoop)), 0)
})
