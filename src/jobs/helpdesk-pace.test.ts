import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { HelpdeskPace } from './helpdesk-pace.ts'

function setUp(isBusy: (destination: string) => boolean = () => false) {
  const clock = new ManualClock()
  const pace = new HelpdeskPace({ clock, requestsPerSec: 5, isBusy })
  const begunAt = clock.monotonic()
  const turns: string[] = []
  const stop = new AbortController()
  /** Notes after how many milliseconds the turn has come. */
  const take = (name: string, requests: number, destination = 'desk') =>
    pace.turn(destination, requests, stop.signal).then(() => turns.push(`${name} ${clock.monotonic() - begunAt}`))
  return { clock, turns, take, stop }
}

test('requests leave at the rate, and many at once make the next caller wait', async () => {
  const { clock, turns, take } = setUp()
  const all = Promise.all([take('a', 1), take('b', 5), take('c', 1)])
  for (let step = 0; step < 12; step++) await clock.advance(100)
  await all
  assert.deepEqual(turns, ['a 0', 'b 200', 'c 1200'])
})

test('each helpdesk inbox has the rate for itself', async () => {
  const { turns, take } = setUp()
  await Promise.all([take('a', 5), take('b', 5, 'other')])
  assert.deepEqual(turns, ['a 0', 'b 0'])
})

test('live messages go first, for ten seconds at the most', async () => {
  const { clock, turns, take } = setUp((destination) => destination === 'desk')
  const turn = take('a', 1)
  for (let step = 0; step < 99; step++) await clock.advance(100)
  assert.deepEqual(turns, [])
  for (let step = 0; step < 2; step++) await clock.advance(100)
  await turn
  assert.deepEqual(turns, ['a 10000'])
})

test('a job that is stopped gets no turn', async () => {
  const { take, stop, turns } = setUp()
  await take('a', 5)
  const waiting = take('b', 1)
  stop.abort(new Error('stopped'))
  await assert.rejects(waiting, /stopped/)
  await assert.rejects(take('c', 1), /stopped/)
  assert.deepEqual(turns, ['a 0'])
})
