import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../core/lifecycle/delivery.ts'
import { nextStep } from './retry-schedule.ts'

const now = Date.UTC(2026, 0, 15, 12)
const middle = { now, random: () => 0.5 }

function delivery(attempts: number, expiresAt: number | null = null): Delivery {
  const fixed = { id: 'd', eventId: 'e', event: 'paired', instance: 'a', url: 'http://x', body: '{}' } as const
  return { ...fixed, createdAt: now, nextAt: now, attempts, expiresAt }
}

function failed(code: number | null = 500, retryAfter: string | null = null) {
  return { code, error: 'no', retryAfter }
}

test('the pauses are 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and twice 10 h, then the delivery is exhausted', () => {
  const results = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => nextStep(delivery(attempts), failed(), middle))
  assert.deepEqual(
    results.map(({ status, nextAt }) => (status === 'pending' ? (nextAt - now) / 1000 : status)),
    [5, 30, 300, 1800, 7200, 18_000, 36_000, 36_000, 'exhausted'],
  )
})

test('each pause is a little shorter or longer, by a tenth at most', () => {
  const pause = (random: number) => nextStep(delivery(0), failed(), { now, random: () => random }).nextAt - now
  assert.equal(pause(0), 4500)
  assert.equal(pause(1), 5500)
})

test('2xx is success, 410 ends the delivery, any other status is a failure, redirects too', () => {
  const statusOf = (code: number | null) => nextStep(delivery(0), failed(code), middle).status
  assert.deepEqual([200, 202, 299].map(statusOf), ['delivered', 'delivered', 'delivered'])
  assert.equal(statusOf(410), 'refused')
  assert.deepEqual([199, 301, 400, 404, 429, 503, null].map(statusOf), Array(7).fill('pending'))
})

test('Retry-After is honoured, in seconds and as a date, up to a day, and never shortens a pause', () => {
  const pause = (wish: string) => (nextStep(delivery(0), failed(503, wish), middle).nextAt - now) / 1000
  assert.equal(pause('120'), 120)
  assert.equal(pause(new Date(now + 90_000).toUTCString()), 90)
  assert.equal(pause('1'), 5)
  assert.equal(pause('999999'), 86_400)
  assert.equal(pause('soon'), 5)
  assert.equal(pause(new Date(now - 90_000).toUTCString()), 5)
})

test('an expired delivery is not tried again', () => {
  assert.equal(nextStep(delivery(0, now + 20_000), failed(), middle).status, 'pending')
  assert.equal(nextStep(delivery(1, now + 20_000), failed(), middle).status, 'exhausted')
})
