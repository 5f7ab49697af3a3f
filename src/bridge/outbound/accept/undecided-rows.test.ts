import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { Acceptances } from './undecided-rows.ts'

/** The database: `true` has the row and takes it back, `false` has no such row, an error is trouble. */
function setUp(...answers: (boolean | Error)[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const withdraw = (id: string) => {
    asked.push(id)
    const answer = answers.shift() ?? false
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const reporter = { due: (now: number) => now }
  return { clock, asked, acceptances: new Acceptances({ moves: { withdraw }, reporter, clock, log: silentLog }) }
}

test('a row is open while it is decided on', async () => {
  const { acceptances } = setUp()
  const decided = Promise.withResolvers<string>()
  const deciding = acceptances.during('x', () => decided.promise)
  assert.ok(acceptances.isOpen('x'))
  decided.resolve('accepted')
  assert.equal(await deciding, 'accepted')
  assert.ok(!acceptances.isOpen('x'))
})

test('what cannot be taken back at once is tried again until it is, and stays open meanwhile', async () => {
  const { acceptances, asked, clock } = setUp(new Error('away'), new Error('away'), true)
  await acceptances.refuse('x')
  await clock.advance(120_000)
  await acceptances.run()
  assert.ok(acceptances.isOpen('x'), 'nobody knows yet whether it is stored')
  await acceptances.run()
  assert.ok(!acceptances.isOpen('x'))
  await acceptances.run()
  assert.deepEqual(asked, ['x', 'x', 'x'])
})

test('a commit that becomes visible late is found; after a minute there is none', async () => {
  const { acceptances, asked, clock } = setUp(false, true, false, false)
  await acceptances.refuse('late')
  await clock.advance(5000)
  await acceptances.run()
  await acceptances.refuse('never')
  await clock.advance(60_000)
  await acceptances.run()
  await acceptances.run()
  assert.deepEqual(asked, ['late', 'late', 'never', 'never'])
})

test('a repeat of what was refused takes it back first; one of what was accepted does not', async () => {
  const { acceptances, asked } = setUp(new Error('away'), true)
  await acceptances.refuse('x')
  assert.equal(await acceptances.takeBack('x'), true)
  assert.equal(await acceptances.takeBack('x'), false)
  assert.equal(await acceptances.takeBack('y'), false)
  assert.deepEqual(asked, ['x', 'x'])
})
