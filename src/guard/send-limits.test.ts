import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SendLimits } from './send-limits.ts'

const dayMs = 86_400_000
const now = 1_800_000_000_000

type Case = { own?: number | null; service?: number; days?: number; age?: number | null }

function limitOf({ own = null, service = 0, days = 0, age = null }: Case) {
  const record = { outgoingRateLimit: own, linkedAt: age === null ? null : now - age * dayMs }
  const limits = new SendLimits({
    perMinute: service,
    warmupDays: days,
    recordOf: () => record,
    clock: { now: () => now },
  })
  return limits.of('a')
}

test('without a warm-up, the own limit comes before the limit of the service', () => {
  const perMinute = (given: Case) => limitOf(given).perMinute
  assert.deepEqual([perMinute({}), perMinute({ service: 9 })], [0, 9])
  assert.deepEqual([perMinute({ own: 4, service: 9 }), perMinute({ own: 0, service: 9 })], [4, 0])
  assert.equal(limitOf({ own: 4, age: 0 }).warmup, null)
  const unknown = new SendLimits({ perMinute: 9, warmupDays: 7, recordOf: () => undefined, clock: { now: () => now } })
  assert.deepEqual(unknown.of('a'), { perMinute: 9, warmup: null })
})

const warmups: readonly [Case, perMinute: number, day: number | null][] = [
  [{ days: 10, age: 0 }, 8, 1],
  [{ days: 10, age: 0.99 }, 8, 1],
  [{ days: 10, age: 1 }, 10, 2],
  [{ days: 10, age: 5 }, 20, 6],
  [{ days: 10, age: 9.99 }, 30, 10],
  [{ days: 10, age: 10 }, 0, null],
  [{ days: 8, age: 5 }, 24, 6],
  [{ days: 1, age: 0 }, 30, 1],
  [{ days: 1, age: 1 }, 0, null],
  [{ days: 10, age: 0, own: 100 }, 28, 1],
  [{ days: 10, age: 5, own: 100, service: 7 }, 68, 6],
  [{ days: 10, age: 10, own: 100 }, 100, null],
  [{ days: 10, age: 0, service: 10 }, 2, 1],
  [{ days: 10, age: 0, own: 0, service: 10 }, 8, 1],
  [{ days: 10, age: 0, own: 3 }, 1, 1],
  [{ days: 10, age: null }, 0, null],
  // The clock was ahead when the number was linked.
  [{ days: 10, age: -400 }, 8, 1],
]

for (const [given, perMinute, day] of warmups) {
  test(`a number of ${JSON.stringify(given)} may send ${perMinute} a minute`, () => {
    const warmup = day === null ? null : { day, days: given.days }
    assert.deepEqual(limitOf(given), { perMinute, warmup })
  })
}

test('a warm-up never stops a number, never falls, and has the full limit on its last day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 365 }), fc.integer({ min: 1, max: 100_000 }), (days, own) => {
      const limits = Array.from({ length: days }, (_, age) => limitOf({ days, own, age }).perMinute)
      assert.ok(limits.every((limit, day) => limit >= 1 && limit <= own && limit >= (limits[day - 1] ?? 0)))
      assert.equal(limits.at(-1), own)
    }),
  )
})
