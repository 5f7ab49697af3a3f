import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BridgeError } from '../../src/core/errors.ts'
import { noImportProgress } from '../../src/core/jobs/history-jobs.ts'
import { StorageError } from '../../src/storage/engine/statement.ts'
import { engines } from '../harness/databases.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { all, chatOrder, contactsImport, JobsBed, openDatabase } from './harness/jobs-bed.ts'
import { sampleResult } from './harness/scripted-runner.ts'

const refused =
  (code: string, sentence = '') =>
  (error: unknown) =>
    error instanceof BridgeError && error.code === code && error.message.includes(sentence)

for (const engine of engines) {
  describe(`jobs on ${engine}`, () => {
    test('a job is stored, runs, tells its progress and ends with its result', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job, completed } = await bed.jobs.add('shop', all)
      assert.equal(job.status, 'pending')
      const run = await bed.runner.waitForRun('shop')
      const progress = { ...noImportProgress, done: 1, total: 2, posted: 3, estimatedEndAt: 5 }
      run.options.onProgress(progress)
      const running = await bed.jobs.get(job.id)
      assert.deepEqual([running.status, running.progress], ['running', progress])
      assert.deepEqual((await bed.jobs.list())[0]?.progress, progress)
      run.resolve(sampleResult)
      const ended = await completed
      assert.deepEqual([ended.status, ended.result, ended.error], ['completed', sampleResult, null])
      assert.deepEqual(await bed.jobs.get(job.id), ended)
      assert.deepEqual(ended.progress, { ...progress, estimatedEndAt: null })
    })

    test('an instance runs one job at a time in order, other instances run beside it', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database, { instances: ['shop', 'other'] })
      const first = await bed.jobs.add('shop', chatOrder('1'))
      const second = await bed.jobs.add('shop', chatOrder('2'))
      const third = await bed.jobs.add('shop', all)
      await bed.jobs.add('other', all)
      const one = await bed.runner.waitForRun('shop')
      const two = await bed.runner.waitForRun('other')
      assert.equal(bed.runner.runs.length, 2)
      one.resolve(sampleResult)
      await first.completed
      const next = await bed.runner.waitForRun('shop')
      assert.equal(next.job.id, second.job.id)
      next.resolve(sampleResult)
      await second.completed
      const last = await bed.runner.waitForRun('shop')
      assert.equal(last.job.id, third.job.id)
      for (const run of [last, two]) run.resolve(sampleResult)
      await third.completed
    })

    test('requests for the same chat share a job, and a second import of all chats is refused with its name', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const [one, other] = await Promise.all([
        bed.jobs.add('shop', chatOrder('1', 'a')),
        bed.jobs.add('shop', chatOrder('a')),
      ])
      assert.equal(one.job.id, other.job.id)
      const whole = await bed.jobs.add('shop', all)
      await assert.rejects(bed.jobs.add('shop', all), refused('SERVICE_JOB_RUNNING', whole.job.id))
      await assert.rejects(bed.jobs.add('shop', chatOrder('1')), refused('SERVICE_JOB_RUNNING', whole.job.id))
      assert.equal((await bed.jobs.list()).length, 2)
    })

    test('a failed run leaves its sentence, and an unexpected failure leaves no detail', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      bed.runner.answer = () => Promise.reject(new BridgeError('SERVICE_NETWORK_FAILED', 'open the phone'))
      const { job, completed } = await bed.jobs.add('shop', all)
      await assert.rejects(completed, refused('SERVICE_NETWORK_FAILED'))
      const failed = await bed.jobs.get(job.id)
      assert.deepEqual([failed.status, failed.error, failed.result], ['failed', 'open the phone', null])
      bed.runner.answer = () => Promise.reject(new Error('a secret'))
      const other = await bed.jobs.add('shop', all)
      await assert.rejects(other.completed, refused('SERVICE_INTERNAL'))
      assert.equal((await bed.jobs.get(other.job.id)).error, 'the job failed; the log says why')
    })
  })

  describe(`jobs of different families on ${engine}`, () => {
    test('run side by side, and a second one of the same type is refused with the name of the first', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const history = await bed.jobs.add('shop', all)
      const contacts = await bed.jobs.add('shop', contactsImport)
      const one = await bed.runner.waitForRun('shop')
      const other = await bed.contacts.waitForRun('shop')
      await assert.rejects(bed.jobs.add('shop', contactsImport), refused('SERVICE_JOB_RUNNING', contacts.job.id))
      const progress = { done: 1, total: 3, errors: 0, estimatedEndAt: null }
      other.options.onProgress(progress)
      assert.deepEqual((await bed.jobs.get(contacts.job.id)).progress, progress)
      const result = { scanned: 3, renamed: 1, created: 1, skipped: 1, errors: 0 }
      other.resolve(result)
      assert.deepEqual((await contacts.completed).result, result)
      assert.deepEqual(await bed.jobs.get(contacts.job.id), await contacts.completed)
      one.resolve(sampleResult)
      await history.completed
    })

    test('those that do not import history run while imports of history are switched off', async () => {
      await using opened = await openDatabase(engine)
      const before = await JobsBed.start(opened.database)
      const history = await before.jobs.add('shop', all)
      const contacts = await before.jobs.add('shop', contactsImport)
      await before[Symbol.asyncDispose]()
      await using after = await JobsBed.start(opened.database, { isOn: false })
      assert.equal((await after.contacts.waitForRun('shop')).job.id, contacts.job.id)
      assert.equal((await after.jobs.get(history.job.id)).status, 'failed')
    })
  })

  describe(`cancelling jobs on ${engine}`, () => {
    test('a running job stops and the next one runs', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job, completed } = await bed.jobs.add('shop', all)
      await bed.runner.waitForRun('shop')
      const cancelled = await bed.jobs.cancel(job.id)
      assert.equal(cancelled.status, 'cancelled')
      assert.equal(cancelled.endedAt, bed.clock.now())
      assert.deepEqual(bed.runner.stops, ['cancelled'])
      await assert.rejects(completed, refused('SERVICE_JOB_CANCELLED'))
      const next = await bed.jobs.add('shop', all)
      assert.equal((await bed.runner.waitForRun('shop')).job.id, next.job.id)
    })

    test('a waiting job never runs', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const first = await bed.jobs.add('shop', chatOrder('1'))
      const second = await bed.jobs.add('shop', chatOrder('2'))
      const run = await bed.runner.waitForRun('shop')
      await bed.jobs.cancel(second.job.id)
      run.resolve(sampleResult)
      await first.completed
      const third = await bed.jobs.add('shop', chatOrder('3'))
      assert.equal((await bed.runner.waitForRun('shop')).job.id, third.job.id)
      assert.deepEqual(await bed.statuses(), ['completed', 'cancelled', 'running'])
    })

    test('a job that has ended is refused, and so is an unknown one', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      bed.runner.answer = () => Promise.resolve(sampleResult)
      const { job, completed } = await bed.jobs.add('shop', all)
      await completed
      await assert.rejects(bed.jobs.cancel(job.id), refused('SERVICE_JOB_ENDED', job.id))
      await assert.rejects(bed.jobs.cancel('nothing'), refused('SERVICE_JOB_NOT_FOUND', 'nothing'))
      assert.equal((await bed.jobs.get(job.id)).status, 'completed')
    })

    test('a job whose run does not stop at once is cancelled all the same, and the next one waits for its end', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const slow = Promise.withResolvers<typeof sampleResult>()
      bed.runner.answer = () => slow.promise
      const { job } = await bed.jobs.add('shop', all)
      await waitUntil('the job runs', () => bed.runner.begun.length === 1)
      assert.equal((await bed.jobs.cancel(job.id)).status, 'cancelled')
      bed.runner.answer = undefined
      const next = await bed.jobs.add('shop', all)
      // A begin under way would be stored before this write.
      await bed.store.remove({ id: 'nothing', instance: 'shop' })
      assert.equal((await bed.jobs.get(next.job.id)).status, 'pending')
      slow.resolve(sampleResult)
      assert.equal((await bed.runner.waitForRun('shop')).job.id, next.job.id)
      assert.equal((await bed.jobs.get(job.id)).status, 'cancelled')
    })

    test('a job that is cancelled stops even if storage goes away right after that', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job } = await bed.jobs.add('shop', all)
      await bed.runner.waitForRun('shop')
      const find = bed.store.find.bind(bed.store)
      let reads = 0
      bed.store.find = (id) => (reads++ === 0 ? find(id) : Promise.reject(new StorageError('unavailable', 'away')))
      assert.equal((await bed.jobs.cancel(job.id)).status, 'cancelled')
      assert.deepEqual(bed.runner.stops, ['cancelled'])
    })

    test('a cancellation whose answer is lost is found when the caller asks again', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job } = await bed.jobs.add('shop', all)
      await bed.runner.waitForRun('shop')
      bed.store.isAway = bed.store.losesAnswers = true
      await assert.rejects(bed.jobs.cancel(job.id), StorageError)
      bed.store.isAway = false
      assert.equal((await bed.jobs.cancel(job.id)).status, 'cancelled')
      assert.deepEqual(bed.runner.stops, ['cancelled'])
    })
  })

  describe(`jobs and the end of a process on ${engine}`, () => {
    test('unfinished jobs go on in their order, and a job that ran before goes on first', async () => {
      await using opened = await openDatabase(engine)
      const before = await JobsBed.start(opened.database)
      const running = await before.jobs.add('shop', chatOrder('1'))
      const waiting = await before.jobs.add('shop', chatOrder('2'))
      await before.runner.waitForRun('shop')
      await before[Symbol.asyncDispose]()
      await assert.rejects(running.completed, refused('SERVICE_STOPPING'))
      assert.deepEqual(before.runner.stops, ['stopping'])
      assert.deepEqual(await before.statuses(), ['running', 'pending'])
      await using after = await JobsBed.start(opened.database)
      after.runner.answer = () => Promise.resolve(sampleResult)
      await waitUntil('both jobs have ended', async () =>
        (await after.statuses()).every((status) => status === 'completed'),
      )
      assert.deepEqual(after.runner.begun, [running.job.id, waiting.job.id])
      assert.equal((await after.jobs.get(running.job.id)).startedAt, before.clock.now())
    })

    test('no job runs before the start', async () => {
      await using opened = await openDatabase(engine)
      await using bed = new JobsBed(opened.database)
      await bed.jobs.take('shop')
      const { job } = await bed.jobs.add('shop', all)
      await bed.clock.advance(1000)
      assert.equal((await bed.jobs.get(job.id)).status, 'pending')
      bed.jobs.start()
      await bed.runner.waitForRun('shop')
    })

    test('unfinished jobs fail while imports are switched off', async () => {
      await using opened = await openDatabase(engine)
      const before = await JobsBed.start(opened.database)
      const { job } = await before.jobs.add('shop', all)
      await before[Symbol.asyncDispose]()
      await using after = await JobsBed.start(opened.database, { isOn: false })
      const failed = await after.jobs.get(job.id)
      assert.equal(failed.status, 'failed')
      assert.match(failed.error ?? '', /SERVICE_HISTORY_IMPORT_ENABLED/)
      assert.deepEqual(after.runner.begun, [])
    })
  })

  describe(`jobs while storage is away on ${engine}`, () => {
    test('a job begins and ends when storage is back', async () => {
      await using opened = await openDatabase(engine)
      await using bed = new JobsBed(opened.database)
      await bed.jobs.take('shop')
      const { completed } = await bed.jobs.add('shop', all)
      bed.store.isAway = true
      bed.jobs.start()
      await waitUntil('a begin fails', () => bed.store.failures === 1)
      bed.store.isAway = false
      await bed.clock.advance(2000)
      const run = await bed.runner.waitForRun('shop')
      bed.store.isAway = true
      run.resolve(sampleResult)
      await waitUntil('an end fails', () => bed.store.failures === 2)
      bed.store.isAway = false
      await bed.clock.advance(2000)
      assert.equal((await completed).status, 'completed')
    })

    test('a job whose end is stored without an answer runs until its run knows of the end, and has completed then', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job, completed } = await bed.jobs.add('shop', all)
      const run = await bed.runner.waitForRun('shop')
      bed.store.isAway = bed.store.losesAnswers = true
      run.resolve(sampleResult)
      await waitUntil('the answer is lost', () => bed.store.failures === 1)
      assert.deepEqual(await bed.statuses(), ['completed'])
      // What a caller sees fits the answer to the next request.
      assert.deepEqual(
        [(await bed.jobs.get(job.id)).status, (await bed.jobs.list())[0]?.status],
        ['running', 'running'],
      )
      await assert.rejects(bed.jobs.add('shop', all), refused('SERVICE_JOB_RUNNING', job.id))
      bed.store.isAway = false
      await bed.clock.advance(2000)
      const ended = await completed
      assert.deepEqual([ended.status, ended.result], ['completed', sampleResult])
      assert.deepEqual(await bed.jobs.get(job.id), ended)
      await bed.jobs.add('shop', all)
    })

    test('a run that storage interrupts is repeated', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { completed } = await bed.jobs.add('shop', all)
      ;(await bed.runner.waitForRun('shop')).reject(new StorageError('unavailable', 'storage is away'))
      await waitUntil('the run has ended', () => bed.runner.runs.length === 0)
      await bed.clock.advance(2000)
      ;(await bed.runner.waitForRun('shop')).resolve(sampleResult)
      assert.equal((await completed).status, 'completed')
    })

    test('a job that the caller was told of as failed is removed later', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      bed.store.isAway = bed.store.losesAnswers = true
      await assert.rejects(bed.jobs.add('shop', all), StorageError)
      assert.deepEqual(await bed.statuses(), ['pending'])
      await waitUntil('a removal fails', () => bed.store.failures === 2)
      bed.store.isAway = false
      await bed.clock.advance(2000)
      await waitUntil('the row is gone', async () => (await bed.statuses()).length === 0)
      assert.deepEqual(bed.runner.begun, [])
    })
  })

  describe(`jobs of an instance that is deleted on ${engine}`, () => {
    test('stop at once, and callers who wait hear that there is no such instance', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database, { instances: ['shop', 'other'] })
      const { completed } = await bed.jobs.add('shop', chatOrder('1'))
      const waiting = await bed.jobs.add('shop', chatOrder('2'))
      await bed.jobs.add('other', all)
      await bed.runner.waitForRun('shop')
      await bed.runner.waitForRun('other')
      await bed.jobs.leave('shop')
      assert.deepEqual(bed.runner.stops, ['deleted'])
      for (const end of [completed, waiting.completed]) {
        await assert.rejects(end, refused('SERVICE_INSTANCE_NOT_FOUND'))
      }
      await assert.rejects(bed.jobs.add('shop', all), refused('SERVICE_INSTANCE_NOT_FOUND'))
      assert.deepEqual(
        bed.runner.runs.map(({ job }) => job.instance),
        ['other'],
      )
    })

    test('go on when the deletion fails', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const { job } = await bed.jobs.add('shop', all)
      await bed.runner.waitForRun('shop')
      await bed.jobs.leave('shop')
      await bed.jobs.take('shop')
      assert.equal((await bed.runner.waitForRun('shop')).job.id, job.id)
    })
  })

  describe(`the job of a pairing on ${engine}`, () => {
    const pairing = { type: 'history_pairing', params: { ...all.params, count: null } } as const

    test('is announced once, and runs when the phone has sent its history', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      await Promise.all([bed.jobs.addHeld('shop', pairing), bed.jobs.addHeld('shop', pairing)])
      assert.equal(bed.jobs.isHeld('shop', 'history_pairing'), true)
      const [job, ...others] = await bed.jobs.list()
      assert.deepEqual([job?.type, job?.status, others], ['history_pairing', 'pending', []])
      await assert.rejects(bed.jobs.add('shop', all), refused('SERVICE_JOB_RUNNING', job?.id))
      assert.deepEqual(bed.runner.begun, [])
      bed.jobs.release('shop', 'history_pairing')
      assert.equal(bed.jobs.isHeld('shop', 'history_pairing'), false)
      await bed.runner.waitForRun('shop')
      await bed.jobs.addHeld('shop', pairing)
      assert.deepEqual(await bed.statuses(), ['running', 'pending'])
    })

    test('may be started before it is stored', async () => {
      await using opened = await openDatabase(engine)
      await using bed = await JobsBed.start(opened.database)
      const stored = Promise.withResolvers<undefined>()
      bed.store.mayCreate = stored.promise
      const announced = bed.jobs.addHeld('shop', pairing)
      bed.jobs.release('shop', 'history_pairing')
      await bed.store.remove({ id: 'nothing', instance: 'shop' })
      stored.resolve(undefined)
      await announced
      await bed.runner.waitForRun('shop')
    })

    test('waits for the phone again after a restart', async () => {
      await using opened = await openDatabase(engine)
      const before = await JobsBed.start(opened.database)
      await before.jobs.addHeld('shop', pairing)
      await before[Symbol.asyncDispose]()
      await using after = await JobsBed.start(opened.database)
      assert.equal(after.jobs.isHeld('shop', 'history_pairing'), true)
      assert.deepEqual(after.runner.begun, [])
      after.jobs.release('shop', 'history_pairing')
      await after.runner.waitForRun('shop')
    })
  })
}
