import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { Closing } from '../core/network/closing.ts'
import { ReconnectPolicy } from './reconnect-policy.ts'

const minute = 60_000
const ended = (cause: Closing['cause'], until?: number): Closing => ({
  cause,
  code: null,
  reason: 'test',
  ...(until !== undefined && { until }),
})

function setUp(random = 0.5) {
  const clock = new ManualClock()
  return { clock, policy: new ReconnectPolicy({ clock, random: () => random }) }
}

test('pauses double from 1 s to 60 s, and reach 5 min after an hour of failures', async () => {
  const { clock, policy } = setUp()
  const pauses: (number | null)[] = []
  for (let attempt = 0; attempt < 8; attempt++) pauses.push(policy.pauseAfter(ended('transient')))
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  assert.equal(policy.failedSinceLogin, 8)
  await clock.advance(60 * minute - 1)
  assert.equal(policy.pauseAfter(ended('transient')), 60_000)
  await clock.advance(1)
  assert.equal(policy.pauseAfter(ended('transient')), 5 * minute)
})

test('pauses are spread by a fifth both ways', () => {
  assert.equal(setUp(0).policy.pauseAfter(ended('transient')), 800)
  assert.equal(setUp(1).policy.pauseAfter(ended('transient')), 1200)
})

test('a connection that held for a minute starts over, a shorter one does not', async () => {
  const { clock, policy } = setUp()
  for (let attempt = 0; attempt < 4; attempt++) policy.pauseAfter(ended('transient'))
  policy.loggedIn()
  await clock.advance(minute - 1)
  policy.ended()
  assert.equal(policy.pauseAfter(ended('transient')), 16_000)
  policy.loggedIn()
  await clock.advance(minute)
  policy.ended()
  assert.equal(policy.pauseAfter(ended('transient')), 1000)
})

test('being replaced waits a minute, twice within 10 minutes waits for a person', async () => {
  const { clock, policy } = setUp()
  assert.equal(policy.pauseAfter(ended('replaced')), minute)
  await clock.advance(10 * minute)
  assert.equal(policy.pauseAfter(ended('replaced')), minute)
  await clock.advance(10 * minute - 1)
  assert.equal(policy.pauseAfter(ended('replaced')), null)
  policy.forgive()
  assert.equal(policy.pauseAfter(ended('replaced')), minute)
})

test('being replaced is remembered even when the connection held in between', async () => {
  const { clock, policy } = setUp()
  assert.equal(policy.pauseAfter(ended('replaced')), minute)
  policy.loggedIn()
  await clock.advance(2 * minute)
  policy.ended()
  assert.equal(policy.pauseAfter(ended('replaced')), null)
})

test('a network that asks for one restart after the other is tried with pauses', async () => {
  const { clock, policy } = setUp()
  assert.deepEqual(
    [1, 2, 3].map(() => policy.pauseAfter(ended('restart'))),
    [0, 1000, 2000],
  )
  await clock.advance(minute)
  assert.equal(policy.pauseAfter(ended('restart')), 0)
  policy.forgive()
  assert.equal(policy.pauseAfter(ended('restart')), 0, 'somebody asked for it')
})

test('a login resets the count of failed attempts, not the pauses', () => {
  const { policy } = setUp()
  for (let attempt = 0; attempt < 3; attempt++) policy.pauseAfter(ended('transient'))
  policy.loggedIn()
  assert.equal(policy.failedSinceLogin, 0)
  assert.equal(policy.pauseAfter(ended('transient')), 8000)
})

test('a temporary ban waits for its end, an hour when that is unknown, a minute at least and 90 days at most', () => {
  const { clock, policy } = setUp()
  assert.equal(policy.pauseAfter(ended('temporary_ban', clock.now() + 7 * minute)), 7 * minute)
  assert.equal(policy.pauseAfter(ended('temporary_ban')), 60 * minute)
  assert.equal(policy.pauseAfter(ended('temporary_ban', clock.now() - 1)), minute)
  const longest = 90 * 24 * 60 * minute
  assert.equal(policy.pauseAfter(ended('temporary_ban', clock.now() + 2 * longest)), longest)
})

test('a refused client is tried every 15 minutes, a restart at once', () => {
  const { policy } = setUp()
  assert.equal(policy.pauseAfter(ended('client_refused')), 15 * minute)
  assert.equal(policy.pauseAfter(ended('restart')), 0)
})

test('a refused client that has another version is tried at once, three times in a row, and again after a login', () => {
  const { policy } = setUp()
  const refused = { ...ended('client_refused'), mayRetryNow: true }
  const pauses = () => Array.from({ length: 4 }, () => policy.pauseAfter(refused))
  assert.deepEqual(pauses(), [0, 0, 0, 15 * minute])
  assert.equal(policy.pauseAfter(refused), 0)
  policy.loggedIn()
  assert.deepEqual(pauses(), [0, 0, 0, 15 * minute])
})
