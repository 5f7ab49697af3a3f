import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Pace } from './pace.ts'

const never = new AbortController().signal

function setUp(perMinute: number, drainPerSecond: number) {
  const clock = new ManualClock()
  const limit = { perMinute, warmup: null }
  const pace = new Pace({ limits: { of: () => limit }, drainPerSecond, clock, random: () => 0.5 })
  const turns: string[] = []
  const ask = (instance: string, name: string, drained = false) =>
    void pace
      .acquire(instance, { isDrained: drained }, never)
      .then((isMine) => isMine && turns.push(`${name}@${clock.monotonic()}`))
  const tryTurn = () => pace.tryAcquire('a') !== undefined
  return { clock, pace, limit, turns, ask, tryTurn }
}

test('without limits no caller waits', async () => {
  const { clock, turns, ask } = setUp(0, 0)
  for (let n = 0; n < 5; n++) ask('a', String(n), true)
  await clock.advance(0)
  assert.equal(turns.length, 5)
})

test('so many a minute and instance, the others in order as time passes', async () => {
  const { clock, pace, turns, ask } = setUp(2, 0)
  for (const name of ['1', '2', '3', '4', '5']) ask('a', name)
  ask('b', 'other')
  await clock.advance(0)
  assert.deepEqual(turns.toSorted(), ['1@0', '2@0', 'other@0'])
  assert.equal(pace.isExhausted('a'), true)
  assert.equal(pace.isExhausted('b'), false)
  await clock.advance(120_000)
  assert.deepEqual(turns.slice(3), ['3@60000', '4@60000', '5@120000'])
})

test('a backlog leaves at its rate, and a fresh message does not wait for it', async () => {
  const { clock, turns, ask } = setUp(0, 2)
  for (const name of ['1', '2', '3']) ask('a', name, true)
  ask('a', 'fresh')
  await clock.advance(1000)
  assert.deepEqual(turns, ['fresh@0', '1@0', '2@500', '3@1000'])
})

test('a turn at once is taken like any other, and never before those who wait', async () => {
  const { clock, turns, ask, tryTurn } = setUp(2, 0)
  assert.equal(tryTurn(), true)
  ask('a', '1')
  ask('a', '2')
  await clock.advance(0)
  assert.equal(tryTurn(), false)
  await clock.advance(59_999)
  assert.deepEqual(turns, ['1@0'])
  assert.equal(tryTurn(), false)
  await clock.advance(60_001)
  assert.deepEqual(turns, ['1@0', '2@60000'])
  assert.equal(tryTurn(), true)
  assert.equal(setUp(0, 0).tryTurn(), true)
})

test('a caller that gives up takes no turn', async () => {
  const { clock, pace } = setUp(1, 0)
  const stop = new AbortController()
  assert.equal(await pace.acquire('a', { isDrained: false }, never), true)
  const waiting = pace.acquire('a', { isDrained: false }, stop.signal)
  await clock.advance(10)
  stop.abort()
  assert.equal(await waiting, false)
})

test('never more than the limit within any minute', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(30_000), { maxLength: 30 }),
      async (limit, gaps) => {
        const { clock, turns, ask } = setUp(limit, 0)
        for (const [n, gap] of gaps.entries()) {
          await clock.advance(gap)
          ask('a', String(n))
        }
        await clock.advance(60_000 * (gaps.length + 1))
        const times = turns.map((turn) => Number(turn.split('@')[1]))
        assert.equal(times.length, gaps.length)
        for (const at of times) {
          assert.ok(times.filter((other) => other > at - 60_000 && other <= at).length <= limit)
        }
      },
    ),
    { numRuns: 20 },
  )
})

test('a turn that was not used is given back', async () => {
  const { clock, pace, tryTurn } = setUp(2, 0)
  const unused = pace.tryAcquire('a')
  assert.deepEqual([tryTurn(), tryTurn()], [true, false])
  unused?.giveBack()
  assert.equal(pace.isExhausted('a'), false)
  assert.deepEqual([tryTurn(), tryTurn()], [true, false])
  await clock.advance(60_000)
  assert.deepEqual([tryTurn(), tryTurn(), tryTurn()], [true, true, false])
})

test('a message that came without a limit gives back no turn of another message', () => {
  const { pace, limit, tryTurn } = setUp(0, 0)
  const unlimited = pace.tryAcquire('a')
  limit.perMinute = 1
  assert.equal(tryTurn(), true)
  unlimited?.giveBack()
  assert.equal(tryTurn(), false)
})

test('a turn that is given back is the own one, not a later one', async () => {
  const { clock, pace, tryTurn } = setUp(2, 0)
  const unused = pace.tryAcquire('a')
  await clock.advance(30_000)
  assert.equal(tryTurn(), true)
  unused?.giveBack()
  assert.equal(tryTurn(), true)
  await clock.advance(30_001)
  // The two turns that count are both half a minute old.
  assert.equal(tryTurn(), false)
})

test('a turn that is given back late gives back no turn of another message', async () => {
  const { clock, pace, tryTurn } = setUp(1, 0)
  const unused = pace.tryAcquire('a')
  await clock.advance(60_000)
  assert.equal(tryTurn(), true)
  unused?.giveBack()
  assert.equal(tryTurn(), false)
})

test('a limit that changes counts for messages that wait already, within seconds', async () => {
  const { clock, limit, turns, ask } = setUp(1, 0)
  for (const name of ['1', '2', '3', '4', '5']) ask('a', name)
  await clock.advance(1000)
  assert.deepEqual(turns, ['1@0'])
  limit.perMinute = 3
  await clock.advance(4000)
  assert.deepEqual(turns.slice(1), ['2@5000', '3@5000'])
  limit.perMinute = 0
  await clock.advance(5000)
  assert.deepEqual(turns.slice(3), ['4@10000', '5@10000'])
})

test('a message that comes after the limit was lifted waits for the ones before it', async () => {
  const { clock, limit, turns, ask, tryTurn } = setUp(1, 0)
  for (const name of ['1', '2', '3']) ask('a', name)
  await clock.advance(1000)
  limit.perMinute = 0
  ask('a', '4')
  assert.equal(tryTurn(), false)
  await clock.advance(4000)
  assert.deepEqual(turns, ['1@0', '2@5000', '3@5000', '4@5000'])
  assert.equal(tryTurn(), true)
})

test('messages that waited and left without a limit count when there is a limit again', async () => {
  const { clock, limit, turns, ask, tryTurn } = setUp(1, 0)
  for (const name of ['1', '2', '3']) ask('a', name)
  await clock.advance(1000)
  limit.perMinute = 0
  await clock.advance(4000)
  assert.equal(turns.length, 3)
  limit.perMinute = 2
  assert.equal(tryTurn(), false)
  await clock.advance(60_000)
  assert.equal(tryTurn(), true)
})

test('a lower limit counts the messages of the last minute', async () => {
  const { clock, pace, limit, tryTurn } = setUp(4, 0)
  for (let n = 0; n < 4; n++) assert.equal(tryTurn(), true)
  limit.perMinute = 2
  assert.equal(pace.isExhausted('a'), true)
  await clock.advance(60_000)
  assert.deepEqual([tryTurn(), tryTurn(), tryTurn()], [true, true, false])
})
