import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Statement } from './statement.ts'
import { SqliteThread } from './sqlite-thread.ts'

async function openLane(clock?: Clock) {
  await using stack = new AsyncDisposableStack()
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'causeway-')), (path) => rm(path, { recursive: true }))
  const options = { role: 'writer', path: join(directory, 'x.db'), encryptionKeys: [] } as const
  const fatal: Error[] = []
  const lane = stack.use(new SqliteThread(options, (reason) => fatal.push(reason), clock))
  await lane.open()
  const owned = stack.move()
  return { lane, fatal, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const select = (value: unknown): { statements: Statement[] } => ({
  statements: [{ sql: 'SELECT ? AS value', parameters: [value as never] }],
})

test('a batch that cannot be sent to the worker is refused, and the next one succeeds', async () => {
  await using opened = await openLane()
  const { lane, fatal } = opened
  const refused = await Promise.allSettled([lane.run(select(() => 1)), lane.run(select(2))])
  assert.deepEqual(
    refused.map((each) => each.status === 'rejected' && (each.reason as { failure: string }).failure),
    ['failed', 'failed'],
  )
  assert.equal((await lane.run(select(3)))[0]?.rows[0]?.['value'], 3)
  assert.deepEqual(fatal, [])
})

test('jobs above the limit are refused, and those that wait are done', async () => {
  await using opened = await openLane()
  const { lane } = opened
  const jobs = Array.from({ length: 100_001 }, () => lane.run({ statements: [{ sql: 'SELECT 1', parameters: [] }] }))
  await assert.rejects(jobs.at(-1) as Promise<unknown>, { failure: 'unavailable', message: /100000/ })
  const outcomes = await Promise.allSettled(jobs)
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 100_000)
})

test('jobs that were asked for before the end are done, and later ones are refused', async () => {
  await using opened = await openLane()
  const { lane, fatal } = opened
  // The second half waits while the first is under way.
  const first = Array.from({ length: 10 }, (_, index) => lane.run(select(index)))
  await new Promise((resolve) => setImmediate(resolve))
  const second = Array.from({ length: 10 }, (_, index) => lane.run(select(10 + index)))
  const ended = lane[Symbol.asyncDispose]()
  const results = await Promise.all([...first, ...second])
  assert.deepEqual(
    results.map(([result]) => result?.rows[0]?.['value']),
    Array.from({ length: 20 }, (_, index) => index),
  )
  await ended
  await assert.rejects(lane.run(select(20)), { failure: 'unavailable' })
  assert.deepEqual(fatal, [], 'an end on request is not reported')
})

test('a worker that ends by itself is reported once, and every job is refused', async () => {
  const created = once(process, 'worker') as Promise<[Worker]>
  await using opened = await openLane()
  const { lane, fatal } = opened
  const [worker] = await created
  const waiting = assert.rejects(lane.run(select(1)), { failure: 'unavailable' })
  await worker.terminate()
  await waiting
  await assert.rejects(lane.run(select(2)), { failure: 'unavailable' })
  assert.deepEqual(
    fatal.map(({ message }) => message),
    ['the storage worker has ended'],
  )
})

test('a thread that cannot open says why, and its end is not reported', async () => {
  const fatal: Error[] = []
  const options = { role: 'reader', path: tmpdir(), encryptionKeys: [] } as const
  await using lane = new SqliteThread(options, (reason) => fatal.push(reason))
  await assert.rejects(lane.open(), { message: /^DATABASE_URL=/ })
  await assert.rejects(lane.run(select(1)), { failure: 'unavailable' })
  assert.deepEqual(fatal, [])
})

test('a thread that is never opened ends without an unhandled rejection', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown) => unheard.push(reason)
  process.on('unhandledRejection', hear)
  const options = { role: 'reader', path: tmpdir(), encryptionKeys: [] } as const
  await new SqliteThread(options, () => undefined)[Symbol.asyncDispose]()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', hear)
  assert.deepEqual(unheard, [])
})

test('the thread opens under node --watch, which sends messages of its own over the port', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  const module = new URL('./sqlite-thread.ts', import.meta.url).href
  const options = { role: 'writer', path: join(directory, 'x.db'), encryptionKeys: [] }
  const script = `import(${JSON.stringify(module)}).then(async ({ SqliteThread }) => {
    await using thread = new SqliteThread(${JSON.stringify(options)}, () => undefined)
    await thread.open()
  })`
  // What watch mode sets for the process that it watches.
  const env = { ...process.env, WATCH_REPORT_DEPENDENCIES: '1' }
  const { status, stderr } = spawnSync(process.execPath, ['--eval', script], { env })
  await rm(directory, { recursive: true })
  assert.equal(status, 0, String(stderr))
})

/** A table whose number 13 undoes everything that is stored in the same commit. */
async function openNumbers(clock: Clock) {
  const opened = await openLane(clock)
  await opened.lane.run({
    statements: [
      { sql: 'CREATE TABLE numbers (n)', parameters: [] },
      {
        sql: `CREATE TRIGGER undoes BEFORE INSERT ON numbers WHEN NEW.n = 13 BEGIN SELECT RAISE(ROLLBACK, 'no'); END`,
        parameters: [],
      },
    ],
  })
  return opened
}

const insert = (n: number) => ({ statements: [{ sql: 'INSERT INTO numbers VALUES (?)', parameters: [n] }] })

const laterTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a job that may wait shares the commit of the next job, and comes before it', async () => {
  await using opened = await openNumbers(new ManualClock())
  const { lane } = opened
  const waiting = lane.run(insert(1), true)
  await laterTurn()
  await laterTurn()
  const undone = await Promise.allSettled([waiting, lane.run(insert(13))])
  assert.deepEqual(
    undone.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  const again = lane.run(insert(2), true)
  const [numbers] = await lane.run({ statements: [{ sql: 'SELECT n FROM numbers', parameters: [] }] })
  assert.deepEqual(
    numbers?.rows.map(({ n }) => n),
    [2],
  )
  await again
})

test('a job that may wait goes alone when no other comes, and at once when it is asked to', async () => {
  const clock = new ManualClock()
  await using opened = await openNumbers(clock)
  const { lane } = opened
  const alone = lane.run(insert(1), true)
  await clock.advance(20)
  await alone
  const hurried = lane.run(insert(2), true)
  lane.sendNow()
  await hurried
  const last = lane.run(insert(3), true)
  await lane[Symbol.asyncDispose]()
  await last
})
