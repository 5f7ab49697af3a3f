import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Query } from './postgres-pool.ts'
import { SharedCommits } from './shared-commits.ts'
import type { HeldWrite, Results } from './shared-commits.ts'
import { StorageError } from './statement.ts'

type Commit = { how: 'together' | 'alone'; sqls: string[]; answer: PromiseWithResolvers<Results> }

const fenceOf = (instance: string): Query => ({ sql: 'fence', values: [instance] })
const write = (instance: string, sql: string): HeldWrite => [fenceOf(instance), { sql, values: [] }]

/** Commits that end when the test says so. Each result names its query. */
function stage() {
  const commits: Commit[] = []
  const begin = (how: Commit['how']) => (queries: readonly Query[]) => {
    const answer = Promise.withResolvers<Results>()
    commits.push({ how, sqls: queries.map(({ sql, values }) => [sql, ...values].join(' ')), answer })
    return answer.promise
  }
  const clock = new ManualClock()
  const shared = new SharedCommits({ together: begin('together'), alone: begin('alone'), clock })
  return { shared, commits, clock }
}

const resultsOf = ({ sqls }: Commit) => sqls.map((command) => ({ command })) as Results
const named = (results: Results) => results.map(({ command }) => command)

function finish(commit: Commit | undefined): void {
  assert.ok(commit)
  commit.answer.resolve(resultsOf(commit))
}

function failure(kind: StorageError['failure'], code?: string): StorageError {
  const cause = Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code })
  return new StorageError(kind, 'refused', { cause })
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

for (const [what, error] of [
  ['a write is refused', failure('expectation')],
  ['the server undid the commit', failure('undone', '40P01')],
  ['a lock took too long', failure('unavailable', '55P03')],
] as const) {
  test(`when ${what}, each write of the commit is made alone`, async () => {
    const { commits, others } = threeWrites()
    finish(commits[0])
    await new Promise(setImmediate)
    commits[1]?.answer.reject(error)
    await new Promise(setImmediate)
    assert.deepEqual(
      commits.slice(2).map(({ how, sqls }) => [how, ...sqls]),
      [
        ['alone', 'fence a', 'two'],
        ['alone', 'fence b', 'three'],
      ],
    )
    finish(commits[2])
    commits[3]?.answer.reject(failure('constraint'))
    assert.deepEqual(
      (await others).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })
}

test('when the outcome of a commit is unknown, no write of it is repeated', async () => {
  const { commits, others } = threeWrites()
  finish(commits[0])
  await new Promise(setImmediate)
  commits[1]?.answer.reject(failure('unavailable'))
  assert.deepEqual(
    (await others).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
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
  assert.equal(commits[2]?.how, 'alone')
  finish(commits[0])
  finish(commits[2])
  await Promise.all([first, last])
  await shared.settled()
})
