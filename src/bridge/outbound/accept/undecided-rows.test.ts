import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { UndecidedRows } from './undecided-rows.ts'

/** The database: `true` has the row and takes it back, `false` has no such row, an error is trouble. */
function setUp(...answers: (boolean | Error)[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const withdraw = (_instance: string, id: string) => {
    asked.push(id)
    const answer = answers.shift() ?? false
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const looks = { after: <T>(_: string, commit: (lookAt: number) => Promise<T>) => commit(clock.now()) }
  return { clock, asked, undecided: new UndecidedRows({ transitions: { withdraw }, looks, clock, log: silentLog }) }
}

test('a row is open while it is decided on', async () => {
  const { undecided } = setUp()
  const decided = Promise.withResolvers<string>()
  const deciding = undecided.while('x', () => decided.promise)
  assert.ok(undecided.has('x'))
  decided.resolve('accepted')
  assert.equal(await deciding, 'accepted')
  assert.ok(!undecided.has('x'))
})

test('what cannot be taken back at once is tried again until it is, and stays open meanwhile', async () => {
  const { undecided, asked, clock } = setUp(new Error('away'), new Error('away'), true)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  await clock.advance(120_000)
  await undecided.run()
  assert.ok(undecided.has('x'), 'nobody knows yet whether it is stored')
  await undecided.run()
  assert.ok(!undecided.has('x'))
  await undecided.run()
  assert.deepEqual(asked, ['x', 'x', 'x'])
})

test('a commit that becomes visible late is found; after a minute there is none', async () => {
  const { undecided, asked, clock } = setUp(false, true, false, false)
  await undecided.refuse({ id: 'late', instance: 'shop' })
  await clock.advance(5000)
  await undecided.run()
  await undecided.refuse({ id: 'never', instance: 'shop' })
  await clock.advance(60_000)
  await undecided.run()
  await undecided.run()
  assert.deepEqual(asked, ['late', 'late', 'never', 'never'])
})

test('the row of an instance that another node holds is tried for a minute, and then left to that node', async () => {
  const refusals = Array.from({ length: 3 }, () => new NotHeldError('shop'))
  const { undecided, asked, clock } = setUp(...refusals)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  await clock.advance(59_000)
  await undecided.run()
  assert.ok(undecided.has('x'), 'this node may get the instance back')
  await clock.advance(1000)
  await undecided.run()
  assert.ok(!undecided.has('x'))
  await undecided.run()
  assert.deepEqual(asked, ['x', 'x', 'x'])
})

test('a repeat of what was refused takes it back first; one of what was accepted does not', async () => {
  const { undecided, asked } = setUp(new Error('away'), true)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.equal(await undecided.withdraw('x'), true)
  assert.equal(await undecided.withdraw('x'), false)
  assert.equal(await undecided.withdraw('y'), false)
  assert.deepEqual(asked, ['x', 'x'])
})
