// An import that is cancelled stops at once. What it began is tidied up, and what it did not import stays kept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { MessageEvent } from '../../../src/core/message.ts'
import { message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { JobStopped } from '../../../src/core/jobs/job-runner.ts'
import { ImportMarks } from '../../../src/storage/stores/history/import-marks.ts'
import { ImportBed, past } from '../harness/import-bed.ts'
import type { BedRun } from '../harness/import-bed.ts'
import { nodeHold } from '../../harness/holds.ts'

async function cancel(bed: ImportBed, run: BedRun): Promise<void> {
  const { progress, error, result } = run.job
  await bed.jobs.end(
    { id: run.job.id, instance: 'a' },
    { status: 'cancelled', endedAt: bed.clock.now(), progress, error, result },
  )
  run.stop('cancelled')
  // No time passes until the run has stopped.
  await assert.rejects(run.ended, JobStopped)
}

async function postedInTime(bed: ImportBed, count: number): Promise<void> {
  for (let steps = 0; steps < 100 && bed.helpdesk.messages.length < count; steps++) await bed.bridge.pass(100)
  assert.equal(bed.helpdesk.messages.length, count)
}

test('a cancelled import stops at once, and its conversation is resolved later', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  await bed.keep([1, 2, 3, 4].map((n) => past(bed, `old ${n}`, n)))
  const run = bed.start(await bed.job())
  await postedInTime(bed, 3)
  await cancel(bed, run)
  assert.deepEqual(
    bed.conversations.map(({ status }) => status),
    ['pending'],
  )
  await bed.bridge.pass(40_000)
  assert.deepEqual(
    bed.conversations.map(({ status, shown }) => ({ status, shown })),
    [{ status: 'resolved', shown: ['#', '< old 1', '< old 2'] }],
  )
  assert.deepEqual(await bed.importing(), [])
  assert.equal(await bed.keptRows(), 2)
  const { posted } = await bed.run(await bed.job())
  assert.equal(posted, 2)
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [
      ['#', '< old 1', '< old 2'],
      ['#', '< old 3', '< old 4'],
    ],
  )
})

test('tidying up after a cancelled import leaves the conversation alone that the next import uses', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  await bed.keep([1, 2].map((n) => past(bed, `old ${n}`, n)))
  const asked = Promise.withResolvers<unknown>()
  bed.helpdesk.script = (call) => {
    if (call !== 'post') return
    asked.resolve(undefined)
    throw new DownstreamError('transient', 'busy', { status: 503 })
  }
  // The first import has created the conversation and posted nothing.
  const first = bed.start(await bed.job())
  await asked.promise
  await cancel(bed, first)
  bed.helpdesk.script = (call) => {
    if (call === 'post' && bed.helpdesk.messages.length === 2) throw new DownstreamError('flood', 'too many messages')
  }
  const second = bed.start(await bed.job())
  for (let seconds = 0; seconds < 50; seconds++) await bed.bridge.pass(1000)
  const status = () => bed.conversations.map(({ status, shown }) => ({ status, shown }))
  assert.deepEqual(status(), [{ status: 'pending', shown: ['#', '< old 1'] }])
  assert.deepEqual(await bed.importing(), [bed.conversations[0]?.id])
  bed.helpdesk.script = () => undefined
  await bed.finish(second, 1000)
  await bed.tidyUp()
  assert.deepEqual(status(), [{ status: 'resolved', shown: ['#', '< old 1', '< old 2'] }])
  assert.deepEqual(await bed.importing(), [])
})

test('a helpdesk that is away while a cancelled import is tidied up is logged once', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  await bed.keep([1, 2, 3].map((n) => past(bed, `old ${n}`, n)))
  const run = bed.start(await bed.job())
  await postedInTime(bed, 2)
  await cancel(bed, run)
  bed.helpdesk.script = () => {
    throw new DownstreamError('transient', 'away', { status: 503 })
  }
  for (let tries = 0; tries < 10; tries++) await bed.bridge.pass(10_000)
  const told = bed.bridge.logs.withMessage('an import could not be tidied up yet')
  assert.equal(told.length, 1)
  bed.helpdesk.script = () => undefined
  await bed.tidyUp()
  assert.deepEqual(
    bed.conversations.map(({ status }) => status),
    ['resolved'],
  )
})

test('agents see a live message in the conversation of a cancelled import', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  await bed.keep([1, 2, 3].map((n) => past(bed, `old ${n}`, n)))
  const run = bed.start(await bed.job())
  await postedInTime(bed, 2)
  await cancel(bed, run)
  await bed.bridge.receive(message('live', { at: bed.clock.now() }))
  await bed.bridge.drained()
  await bed.bridge.pass(40_000)
  assert.deepEqual(
    bed.conversations.map(({ status, shown }) => ({ status, shown })),
    [{ status: 'open', shown: ['#', '< old 1', '< live'] }],
  )
})

test('an import that waits for the phone stops at once', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  const asked = Promise.withResolvers<unknown>()
  bed.requestHistory = (_before, _count, signal) => {
    asked.resolve(undefined)
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error)
      })
    })
  }
  const run = bed.start(await bed.job({ params: { count: 50 } }))
  await asked.promise
  await cancel(bed, run)
  assert.deepEqual(bed.counted, [])
})

test('an import that waits for the connection stops at once', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  bed.isConnected = false
  const run = bed.start(await bed.job({ params: { count: 50 } }))
  for (let seconds = 0; seconds < 3; seconds++) await bed.bridge.pass(1000)
  await cancel(bed, run)
  assert.deepEqual(bed.counted, [])
})

test('an import that waits for an answer of the helpdesk stops at once', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  const asked = Promise.withResolvers<unknown>()
  bed.helpdesk.script = (call) => {
    if (call !== 'post') return
    asked.resolve(undefined)
    return new Promise(() => undefined)
  }
  const run = bed.start(await bed.job())
  await asked.promise
  await cancel(bed, run)
})

test('an import waits while the helpdesk is away, and stops at once when it is cancelled', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  bed.helpdesk.script = () => {
    throw new DownstreamError('destination', 'wrong token', { status: 401 })
  }
  const run = bed.start(await bed.job())
  for (let hours = 0; hours < 5; hours++) await bed.bridge.pass(3_600_000)
  await cancel(bed, run)
})

test('an import goes on when the helpdesk works again', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  bed.helpdesk.script = () => {
    throw new DownstreamError('destination', 'refused', { mayHaveHappened: false })
  }
  const run = bed.start(await bed.job())
  for (let hours = 0; hours < 5; hours++) await bed.bridge.pass(3_600_000)
  bed.helpdesk.script = () => undefined
  const { posted } = await bed.finish(run, 10_000)
  assert.equal(posted, 1)
})

test('an import that begins before a cancelled one is tidied up leaves its conversation alone', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  bed.pairedAt = bed.clock.now()
  await bed.keep(Array.from({ length: 120 }, (_, n) => past(bed, `old ${n}`, n)))
  const run = bed.start(await bed.job())
  await postedInTime(bed, 3)
  await cancel(bed, run)
  const { posted } = await bed.run(await bed.job())
  assert.equal(posted, 118)
  assert.deepEqual(
    bed.conversations.map(({ status, isHistory, shown }) => ({ status, isHistory, count: shown.length })),
    [
      { status: 'resolved', isHistory: false, count: 3 },
      { status: 'resolved', isHistory: true, count: 119 },
    ],
  )
})

test('the conversation of a cancelled import is closed to bots until the helpdesk lets it be resolved', async () => {
  await using bed = await ImportBed.open()
  bed.startWorkers()
  await bed.keep([1, 2, 3].map((n) => past(bed, `old ${n}`, n)))
  const run = bed.start(await bed.job())
  await postedInTime(bed, 2)
  await cancel(bed, run)
  bed.helpdesk.script = () => {
    throw new DownstreamError('transient', 'away', { status: 503 })
  }
  for (let minutes = 0; minutes < 60; minutes++) await bed.bridge.pass(60_000)
  await new ImportMarks(bed.bridge.database).endAbandoned(nodeHold(), bed.clock.now())
  assert.equal((await bed.importing()).length, 1)
  assert.equal(bed.bridge.logs.withMessage('an import could not be tidied up yet').length, 1)
  bed.helpdesk.script = () => undefined
  await bed.tidyUp()
  assert.deepEqual(await bed.importing(), [])
  assert.equal(bed.conversations[0]?.status, 'resolved')
})

test('a conversation that gets too many messages is left alone for a minute', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  let refusals = 0
  bed.helpdesk.script = (call) => {
    if (call === 'post' && bed.helpdesk.messages.length === 1 && refusals++ === 0) {
      throw new DownstreamError('flood', 'too many messages', { status: 422 })
    }
  }
  const run = bed.start(await bed.job())
  for (let seconds = 0; seconds < 55; seconds++) await bed.bridge.pass(1000)
  assert.deepEqual(bed.shown(bed.conversations[0]?.id ?? 0), ['#'])
  const { posted } = await bed.finish(run, 1000)
  assert.equal(posted, 1)
})

test('a message that the helpdesk refuses again and again is an error, and the others are imported', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([1, 2].map((n) => past(bed, `old ${n}`, n)))
  bed.helpdesk.script = (call) => {
    if (call === 'post' && bed.helpdesk.messages.length === 1 && bed.counted.length === 0) {
      throw new DownstreamError('unexplained', 'no', { status: 422 })
    }
  }
  const { posted, messageErrors, imported } = await bed.run(await bed.job(), 10_000)
  assert.deepEqual({ posted, messageErrors, imported }, { posted: 1, messageErrors: 1, imported: 1 })
  assert.deepEqual(bed.counted, ['a ds_error'])
  // Another import can try again.
  assert.equal(await bed.keptRows(), 1)
})

test('a chat for which no conversation can be had is an error, and its messages stay kept', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([1, 2].map((n) => past(bed, `old ${n}`, n)))
  bed.helpdesk.script = (call) => {
    if (call === 'ensureContact') throw new DownstreamError('permanent', 'no', { status: 400 })
  }
  const { errors, posted } = await bed.run(await bed.job())
  assert.deepEqual({ errors, posted }, { errors: 1, posted: 0 })
  assert.equal(await bed.keptRows(), 2)
})

test('a message that our own code cannot read is an error, and the others are imported', async () => {
  await using bed = await ImportBed.open()
  const broken = { content: { type: 'location' } as MessageEvent['content'] }
  await bed.keep([past(bed, 'broken', 1, broken), past(bed, 'old', 2)])
  const { posted, messageErrors } = await bed.run(await bed.job())
  assert.deepEqual({ posted, messageErrors }, { posted: 1, messageErrors: 1 })
  assert.deepEqual(bed.counted, ['a ds_error'])
})
