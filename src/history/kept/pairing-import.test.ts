import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { JobOrder } from '../../core/jobs/job.ts'
import { PairingImport } from './pairing-import.ts'

/** Jobs that note what they are told. */
class ScriptedJobs {
  readonly announced: { instance: string; order: JobOrder }[] = []
  readonly started: string[] = []
  readonly pending = new Set<string>()
  failure: Error | undefined

  addHeld(instance: string, order: JobOrder): Promise<void> {
    if (this.failure) return Promise.reject(this.failure)
    this.announced.push({ instance, order })
    this.pending.add(instance)
    return Promise.resolve()
  }

  release(instance: string): void {
    this.started.push(instance)
    this.pending.delete(instance)
  }

  isHeld(instance: string): boolean {
    return this.pending.has(instance)
  }
}

function setUp(daysOf: (instance: string) => number | null = () => 7) {
  const clock = new ManualClock()
  const jobs = new ScriptedJobs()
  return { clock, jobs, pairing: new PairingImport({ jobs, daysOf, clock }) }
}

test('the first kept messages announce one job, which asks nothing of the phone', async () => {
  const { jobs, pairing } = setUp()
  await pairing.kept('shop')
  await pairing.kept('shop')
  const params = { chat: null, count: null, timeoutMs: 0, days: 7, mediaDays: 0 }
  assert.deepEqual(jobs.announced, [{ instance: 'shop', order: { type: 'history_pairing', params } }])
  assert.deepEqual(jobs.started, [])
})

test('an instance that does not import its history gets no job', async () => {
  const { clock, jobs, pairing } = setUp(() => null)
  await pairing.kept('shop')
  pairing.ended('shop')
  await clock.advance(120_000)
  assert.deepEqual([jobs.announced, jobs.started, clock.pending], [[], [], 0])
})

test('the job starts when the phone has sent all', async () => {
  const { clock, jobs, pairing } = setUp()
  await pairing.kept('shop')
  pairing.ended('shop')
  pairing.ended('shop')
  await clock.advance(120_000)
  assert.deepEqual(jobs.started, ['shop'])
})

test('the job starts when nothing has come for two minutes', async () => {
  const { clock, jobs, pairing } = setUp()
  await pairing.kept('shop')
  await clock.advance(119_999)
  await pairing.kept('shop')
  await clock.advance(119_999)
  assert.deepEqual(jobs.started, [])
  await clock.advance(1)
  assert.deepEqual(jobs.started, ['shop'])
})

test('messages that come after the start get a job of their own', async () => {
  const { jobs, pairing } = setUp()
  await pairing.kept('shop')
  pairing.ended('shop')
  await pairing.kept('shop')
  assert.equal(jobs.announced.length, 2)
})

test('a job that was announced before a restart starts when nothing comes for two minutes', async () => {
  const { clock, jobs, pairing } = setUp()
  jobs.pending.add('shop')
  pairing.take('shop')
  pairing.take('other')
  await clock.advance(120_000)
  assert.deepEqual(jobs.started, ['shop'])
})

test('a cancelled job is not announced again by the rest of what the phone sends', async () => {
  const { jobs, pairing } = setUp()
  await pairing.kept('shop')
  jobs.pending.delete('shop')
  await pairing.kept('shop')
  assert.equal(jobs.announced.length, 1)
})

test('a job that could not be stored is announced by the next messages', async () => {
  const { clock, jobs, pairing } = setUp()
  jobs.failure = new Error('no storage')
  await assert.rejects(pairing.kept('shop'), /no storage/)
  assert.equal(clock.pending, 0)
  jobs.failure = undefined
  await pairing.kept('shop')
  assert.equal(jobs.announced.length, 1)
})

test('an instance that leaves has no timer any more', async () => {
  const { clock, jobs, pairing } = setUp()
  await pairing.kept('shop')
  pairing.leave('shop')
  pairing.ended('shop')
  await clock.advance(120_000)
  assert.deepEqual([jobs.started, clock.pending], [[], 0])
})

test('an instance that leaves while its job is stored gets no timer', async () => {
  const { clock, jobs, pairing } = setUp()
  const stored = Promise.withResolvers<undefined>()
  jobs.addHeld = () => stored.promise
  const kept = pairing.kept('shop')
  pairing.leave('shop')
  stored.resolve(undefined)
  await kept
  assert.equal(clock.pending, 0)
})
