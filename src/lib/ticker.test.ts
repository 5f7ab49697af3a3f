import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog, silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Ticker } from './ticker.ts'

test('a pause that changes is asked for before each run', async () => {
  const clock = new ManualClock()
  let everyMs = 60_000
  let runs = 0
  const work = () => {
    runs++
    return Promise.resolve()
  }
  await using ticker = new Ticker({ name: 'w', everyMs: () => everyMs, work, clock, log: silentLog })
  ticker.start()
  await clock.advance(60_000)
  assert.equal(runs, 1)
  everyMs = 5000
  await clock.advance(60_000)
  assert.equal(runs, 2, 'the pause that has begun stays')
  await clock.advance(5000)
  assert.equal(runs, 3)
})

test('a worker runs at its interval until it is disposed', async () => {
  const clock = new ManualClock()
  let runs = 0
  const work = async () => {
    runs++
    await Promise.resolve()
  }
  const ticker = new Ticker({ name: 'w', everyMs: 1000, work, clock, log: silentLog })
  ticker.start()
  await clock.advance(3500)
  assert.equal(runs, 3)
  await ticker[Symbol.asyncDispose]()
  await clock.advance(10_000)
  assert.equal(runs, 3)
  assert.equal(clock.pending, 0)
})

test('the first run can be earlier than the interval', async () => {
  const clock = new ManualClock()
  const runs: number[] = []
  const started = clock.now()
  const work = () => {
    runs.push(clock.now() - started)
    return Promise.resolve()
  }
  await using ticker = new Ticker({ name: 'w', everyMs: 1000, firstMs: 200, work, clock, log: silentLog })
  ticker.start()
  await clock.advance(2500)
  assert.deepEqual(runs, [200, 1200, 2200])
})

test('a run in flight is joined, never doubled, and waited for at the end', async () => {
  const clock = new ManualClock()
  const gate = Promise.withResolvers<undefined>()
  let runs = 0
  let finished = false
  const work = async () => {
    runs++
    await gate.promise
    finished = true
  }
  const ticker = new Ticker({ name: 'w', everyMs: 1000, work, clock, log: silentLog })
  ticker.start()
  await clock.advance(1000)
  void ticker.tick()
  void ticker.tick()
  assert.equal(runs, 1)
  const disposed = ticker[Symbol.asyncDispose]()
  gate.resolve(undefined)
  await disposed
  assert.equal(finished, true)
})

test('a failure is kept and logged until a run succeeds, and the interval goes on', async () => {
  const clock = new ManualClock()
  const recorded = new RecordedLog()
  let broken = true
  const work = () => (broken ? Promise.reject(new Error('disk full')) : Promise.resolve())
  await using ticker = new Ticker({ name: 'w', everyMs: 1000, work, clock, log: recorded.log })
  ticker.start()
  await clock.advance(1000)
  assert.equal(ticker.failure?.message, 'disk full')
  assert.equal(recorded.withMessage('worker run failed')[0]?.['worker'], 'w')
  broken = false
  await clock.advance(1000)
  assert.equal(ticker.failure, undefined)
})

test('a worker that is not wanted at the moment does nothing, and goes on when it is', async () => {
  const clock = new ManualClock()
  let runs = 0
  const work = () => {
    runs++
    return Promise.resolve()
  }
  let isWanted = false
  await using ticker = new Ticker({ name: 'w', everyMs: 1000, work, clock, log: silentLog })
  ticker.runOnlyWhile(() => isWanted)
  ticker.start()
  await clock.advance(2000)
  await ticker.tick()
  assert.equal(runs, 0)
  isWanted = true
  await clock.advance(1000)
  assert.equal(runs, 1)
})
