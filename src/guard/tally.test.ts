import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Tally } from './tally.ts'
import type { Sample } from './tally.ts'

const windows = { velocityMs: 10, diversityMs: 50, deliveryMs: 100 }
const maxSamples = 12

function countAnew(samples: readonly Sample[], now: number) {
  const within = (ms: number) => samples.slice(-maxSamples).filter(({ at }) => at > now - ms)
  const known = within(windows.deliveryMs)
  return {
    velocity: within(windows.velocityMs).length,
    diversity: new Set(within(windows.diversityMs).map(({ recipient }) => recipient)).size,
    delivered: known.filter(({ delivered }) => delivered).length,
    samples: known.length,
  }
}

test('after any samples and at any time, the counts are those of a count from the start', () => {
  const step = fc.record({
    wait: fc.nat(40),
    sample: fc.option(fc.record({ recipient: fc.constantFrom('a', 'b', 'c', 'd'), delivered: fc.boolean() })),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const tally = new Tally(windows, maxSamples)
      const samples: Sample[] = []
      let now = 0
      for (const { wait, sample } of steps) {
        now += wait
        if (sample) {
          samples.push({ at: now, ...sample })
          tally.add({ at: now, ...sample })
        }
        assert.deepEqual(tally.counts(now), countAnew(samples, now))
      }
    }),
  )
})
