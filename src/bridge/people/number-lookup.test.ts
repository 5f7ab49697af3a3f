import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { NumberLookup } from './number-lookup.ts'

const minute = 60_000

/** Every number has an account. */
function setUp() {
  const clock = new ManualClock()
  const asked: string[] = []
  const numbers = new NumberLookup({
    sessionOf: (instance) => ({
      findPerson: (phone) => {
        asked.push(`${instance} ${phone}`)
        return Promise.resolve({ phone, lid: null })
      },
    }),
    people: { lookUp: () => Promise.resolve(undefined), upsert: () => Promise.reject(new Error('not known')) },
    clock,
  })
  return { clock, asked, numbers }
}

const numberOf = (n: number) => `4930${String(1_000_000 + n)}`

test('the limit of one instance leaves the others alone', async () => {
  const { asked, numbers } = setUp()
  for (let n = 0; n < 30; n++) await numbers.find('shop', numberOf(n))
  await assert.rejects(numbers.find('shop', numberOf(30)), { code: 'SERVICE_RATE_LIMITED' })
  assert.deepEqual(await numbers.find('branch', numberOf(30)), { phone: numberOf(30), lid: null })
  assert.equal(asked.length, 31)
})

test('the oldest of more than 2000 answers is forgotten', async () => {
  const { clock, asked, numbers } = setUp()
  const find = async (n: number) => {
    const before = asked.length
    await numbers.find('shop', numberOf(n))
    return asked.length > before ? 'asked' : 'remembered'
  }
  for (let n = 0; n <= 2000; n++) {
    if (n % 30 === 0) await clock.advance(minute)
    assert.equal(await find(n), 'asked')
  }
  assert.deepEqual([await find(2000), await find(1), await find(0)], ['remembered', 'remembered', 'asked'])
})
