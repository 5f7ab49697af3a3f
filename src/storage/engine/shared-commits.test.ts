import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Attempt, Query } from './postgres-pool.ts'
import { SharedCommits } from './shared-commits.ts'
import type { HeldWrite, Results } from './shared-commits.ts'
import { StorageError } from './statement.ts'

type Commit = { how: 'together' | 'alone'; sqls: string[]; answer: PromiseWithResolvers<Attempt> }

const fenceOf = (instance: string): Query => ({ sql: 'fence', values: [instance] })
const write = (instance: string, sql: string): HeldWrite => [fenceOf(instance), { sql, values: [] }]

/** Commits that end when the test says so. Each result names its query. */
function stage() {
  const commits: Commit[] = []
  const begin = (how: Commit['how'], queries: readonly Query[]) => {
    const answer = Promise.withResolvers<Attempt>()
    commits.push({ how, sqls: queries.map(({ sql, values }) => [sql, ...values].join(' ')), answer })
    return answer.promise
  }
  const clock = new ManualClock()
  const shared = new SharedCommits({
    together: (queries) => begin('together', queries),
    alone: async (queries) => {
      const made = await begin('alone', queries)
      return made.results ?? Promise.reject(made.error)
    },
    clock,
  })
  return { shared, commits, clock }
}

const named = (results: Results) => results.map(({ command }) => command)

function finish(commit: Commit | undefined): void {
  assert.ok(commit)
  commit.answer.resolve({ results: commit.sqls.map((command) => ({ command })) as Results })
}

/** The query at that place fails. */
function fail(commit: Commit | undefined, isUndone: boolean, failedAt?: number): void {
  const error = new StorageError('failed', 'refused')
  commit?.answer.resolve({ error, isUndone, ...(failedAt !== undefined && { failedAt }) })
}

/** One write is under way, and two wait behind it. */
function threeWrites() {
  const { shared, commits, clock } = stage()
  const first = shared.write(write('a', 'one'))
  const others = Promise.allSettled([shared.write(write('a', 'two')), shared.write(write('b', 'three'))])
  return { shared, commits, clock, first, others }
}

test('a write alone is committed at once, and those that come meanwhile share the next commit', async () => {
  const { commits, first, others } = threeWrites()
  assert.deepEqual(commits, [{ how: 'alone', sqls: ['fence a', 'one'], answer: commits[0]?.answer }])
  finish(commits[0])
  assert.deepEqual(named(await first), ['fence a', 'one'])
  await commits[0]?.answer.promise
  await new Promise(setImmediate)
  assert.deepEqual([commits[1]?.how, commits[1]?.sqls], ['together', ['fence a', 'two', 'fence b', 'three']])
  finish(commits[1])
  const answers = (await others).map((answer) => (answer.status === 'fulfilled' ? named(answer.value) : []))
  assert.deepEqual(answers, [
    ['fence a', 'two'],
    ['fence b', 'three'],
  ])
})

test('the right to one instance is checked once in a commit', async () => {
  const { shared, commits } = stage()
  const first = shared.write(write('a', 'one'))
  const others = Promise.all([shared.write(write('b', 'two')), shared.write(write('b', 'three'))])
  finish(commits[0])
  await first
  await new Promise(setImmediate)
  assert.deepEqual(commits[1]?.sqls, ['fence b', 'two', 'three'])
  finish(commits[1])
  assert.deepEqual((await others).map(named), [
    ['fence b', 'two'],
    ['fence b', 'three'],
  ])
})

test('a write that undoes a shared commit is made alone, and the others share a commit again', async () => {
  const { shared, commits, first, others } = threeWrites()
  const last = shared.write(write('c', 'four'))
  finish(commits[0])
  await first
  await new Promise(setImmediate)
  // fence a, two, fence b, three, fence c, four
  fail(commits[1], true, 3)
  await new Promise(setImmediate)
  assert.deepEqual(
    commits.slice(2).map(({ how, sqls }) => [how, ...sqls]),
    [
      ['alone', 'fence b', 'three'],
      ['together', 'fence a', 'two', 'fence c', 'four'],
    ],
  )
  fail(commits[2], true, 1)
  finish(commits[3])
  assert.deepEqual(
    (await others).map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  assert.deepEqual(named(await last), ['fence c', 'four'])
})

test('after three failures each write of a commit is made alone', async () => {
  const { shared, commits } = stage()
  const writes = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((instance) => shared.write(write(instance, 'step'))))
  finish(commits[0])
  for (const index of [1, 3, 5]) {
    await new Promise(setImmediate)
    assert.equal(commits[index]?.how, 'together')
    fail(commits[index], true, 0)
    await new Promise(setImmediate)
  }
  assert.deepEqual(
    commits.slice(6).map(({ how, sqls }) => [how, sqls[0]]),
    [
      ['alone', 'fence d'],
      ['alone', 'fence e'],
      ['alone', 'fence f'],
    ],
  )
  for (const commit of commits) finish(commit)
  await writes
})

test('all writes of a refused instance leave the commit', async () => {
  const { shared, commits, first, others } = threeWrites()
  const again = shared.write(write('b', 'four'))
  finish(commits[0])
  await first
  await new Promise(setImmediate)
  // fence a, two, fence b, three, four
  fail(commits[1], true, 2)
  await new Promise(setImmediate)
  const made = commits.slice(2)
  assert.deepEqual(
    made.map(({ how, sqls }) => [how, ...sqls]),
    [
      ['alone', 'fence b', 'three'],
      ['alone', 'fence b', 'four'],
      ['alone', 'fence a', 'two'],
    ],
  )
  for (const commit of made) finish(commit)
  await Promise.all([others, again])
})

test('when it is unknown which query undid a commit, each write is made alone', async () => {
  const { commits, first, others } = threeWrites()
  finish(commits[0])
  await first
  await new Promise(setImmediate)
  fail(commits[1], true)
  await new Promise(setImmediate)
  assert.deepEqual(
    commits.slice(2).map(({ how }) => how),
    ['alone', 'alone'],
  )
  for (const commit of commits) finish(commit)
  await others
})

test('when the outcome of a commit is unknown, no write of it is repeated', async () => {
  const { commits, others } = threeWrites()
  finish(commits[0])
  await new Promise(setImmediate)
  fail(commits[1], false)
  // Not with the error of the write that failed.
  const failures = (await others).map(
    (answer) => answer.status === 'rejected' && (answer.reason as StorageError).failure,
  )
  assert.deepEqual(failures, ['unavailable', 'unavailable'])
  assert.equal(commits.length, 2)
})

test('a slow commit does not hold up the next one', async () => {
  const { shared, commits, clock, first, others } = threeWrites()
  await clock.advance(199)
  assert.equal(commits.length, 1)
  await clock.advance(1)
  assert.equal(commits.length, 2)
  finish(commits[1])
  await others
  const last = shared.write(write('c', 'four'))
  await new Promise(setImmediate)
  assert.equal(commits[2]?.how, 'alone')
  finish(commits[0])
  finish(commits[2])
  await Promise.all([first, last])
  await shared.settled()
})
