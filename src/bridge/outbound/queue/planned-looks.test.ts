import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { PlannedLooks } from './planned-looks.ts'

function setUp() {
  const clock = new ManualClock()
  const woken: number[] = []
  const looks = new PlannedLooks({ clock, wake: () => void woken.push(clock.monotonic()) })
  return { clock, woken, looks }
}

test('the look comes a second after the commit, however long the commit takes', async () => {
  const { clock, woken, looks } = setUp()
  const commit = Promise.withResolvers<string>()
  const plannedFor: number[] = []
  const startedAt = clock.monotonic()
  const stored = looks.after('a', (lookAt) => {
    plannedFor.push(lookAt - clock.now())
    return commit.promise
  })
  assert.deepEqual(plannedFor, [1000], 'the next process waits too')
  await clock.advance(2500)
  assert.deepEqual([looks.isTooEarly('a'), woken], [true, []])
  commit.resolve('stored')
  assert.equal(await stored, 'stored')
  await clock.advance(999)
  assert.ok(looks.isTooEarly('a'))
  await clock.advance(1)
  assert.deepEqual([looks.isTooEarly('a'), woken], [false, [startedAt + 3500]])
})

test('a second failure of the same row begins its own second', async () => {
  const { clock, woken, looks } = setUp()
  await looks.after('a', () => Promise.resolve())
  await clock.advance(600)
  const commit = Promise.withResolvers<undefined>()
  const stored = looks.after('a', () => commit.promise)
  await clock.advance(600)
  assert.deepEqual([looks.isTooEarly('a'), woken], [true, []])
  commit.resolve(undefined)
  await stored
  await clock.advance(1000)
  assert.deepEqual([looks.isTooEarly('a'), woken.length], [false, 1])
})

test('a commit that fails leaves no row behind', async () => {
  const { clock, looks } = setUp()
  await assert.rejects(looks.after('a', () => Promise.reject(new Error('away'))))
  await clock.advance(1000)
  assert.ok(!looks.isTooEarly('a'))
})
