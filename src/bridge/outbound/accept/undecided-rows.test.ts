import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { UndecidedRows } from './undecided-rows.ts'

type Answer = boolean | Error | Pick<OutboxRow, 'status' | 'shown' | 'reason'>

/** The database: `true` has the row and takes it back, `false` has no such row, a row is kept, an error is trouble. */
function setUp(...answers: Answer[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const done: string[] = []
  let found: Answer = false
  const withdraw = (_instance: string, id: string) => {
    asked.push(id)
    found = answers.shift() ?? false
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found === true)
  }
  const find = () => Promise.resolve(typeof found === 'object' ? (found as OutboxRow) : undefined)
  const looks = { after: <T>(_: string, commit: (lookAt: number) => Promise<T>) => commit(clock.now()) }
  const queue = (instance: string) => Promise.resolve(void done.push(`queue ${instance}`))
  const undecided = new UndecidedRows({
    outbox: { find },
    transitions: { withdraw },
    looks,
    queue,
    clock,
    log: silentLog,
  })
  return { clock, asked, done, undecided }
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
  assert.equal(await undecided.reopen({ id: 'x' }), true)
  assert.equal(await undecided.reopen({ id: 'x' }), false)
  assert.equal(await undecided.reopen({ id: 'y' }), false)
  assert.deepEqual(asked, ['x', 'x'])
})

test('a row that another node has confirmed is queued at the next try', async () => {
  const confirmed = { status: 'pending', shown: 'sent', reason: null } as const
  const { undecided, done } = setUp(new Error('away'), confirmed, { ...confirmed, status: 'sending' })
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.deepEqual([undecided.has('x'), done], [true, []])
  await undecided.run()
  assert.deepEqual([undecided.has('x'), done], [false, ['queue shop']])
  await undecided.refuse({ id: 'y', instance: 'shop' })
  assert.deepEqual([undecided.has('y'), done], [false, ['queue shop', 'queue shop']])
})

test('a confirmed row is queued when its callback comes again, and does not open its callback', async () => {
  const { undecided, done } = setUp(new Error('away'), { status: 'pending', shown: 'sent', reason: null })
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.equal(await undecided.reopen({ id: 'x' }), false)
  assert.deepEqual([undecided.has('x'), done], [false, ['queue shop']])
})

test('a row that becomes visible after the try, or was taken back without an answer, is not sent', async () => {
  const visible = { status: 'pending', shown: 'unsure', reason: null } as const
  const takenBack = { status: 'refused', shown: 'unsure', reason: writeReason('storedTooLate') } as const
  const { undecided, done } = setUp(visible, takenBack)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.ok(undecided.has('x'))
  await undecided.run()
  assert.ok(!undecided.has('x'))
  assert.deepEqual(done, [])
})

test('an instance that leaves takes its refused rows with it, after one more try', async () => {
  const { undecided, asked } = setUp(...Array.from({ length: 4 }, () => new NotHeldError('shop')))
  await undecided.refuse({ id: 'x', instance: 'shop' })
  await undecided.refuse({ id: 'y', instance: 'other' })
  await undecided.leave('shop')
  assert.deepEqual([undecided.has('x'), undecided.has('y')], [false, true])
  await undecided.run('shop')
  assert.deepEqual(asked, ['x', 'y', 'x'])
})
