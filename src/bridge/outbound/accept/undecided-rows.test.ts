import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { UndecidedRows } from './undecided-rows.ts'

type Answer = boolean | Error | Pick<OutboxRow, 'status' | 'shown' | 'reason'>

const unanswered = { status: 'pending', shown: 'unsure', reason: null } as const

/** The database: `true` has the row and takes it back, `false` has no such row, a row is kept, an error is trouble. */
function setUp(...answers: Answer[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const done: string[] = []
  const find = (id: string) => {
    asked.push(id)
    const found = answers.shift() ?? false
    if (found instanceof Error) return Promise.reject(found)
    const row = found === true ? unanswered : found
    return Promise.resolve(row === false ? undefined : (row as OutboxRow))
  }
  const withdraw = () => Promise.resolve(true)
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

test('the row of an instance that another node holds is left to that node', async () => {
  const { undecided, asked } = setUp(new NotHeldError('shop'))
  await undecided.refuse({ id: 'x', instance: 'shop' })
  await undecided.run()
  assert.deepEqual([undecided.has('x'), asked], [false, ['x']])
})

test('a repeat of what was refused takes it back first; one of what was accepted does not', async () => {
  const { undecided } = setUp(new Error('away'), true, unanswered)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.equal(await undecided.reopen({ id: 'x' }), true)
  assert.equal(await undecided.reopen({ id: 'y' }), false)
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

test('a row that was taken back without an answer is not sent', async () => {
  const takenBack = { status: 'refused', shown: 'unsure', reason: writeReason('storedTooLate') } as const
  const { undecided, done } = setUp(takenBack)
  await undecided.refuse({ id: 'x', instance: 'shop' })
  assert.deepEqual([undecided.has('x'), done], [false, []])
})

test('an instance that moves tries once more, and then its refused rows are forgotten', async () => {
  const { undecided, asked } = setUp(...Array.from({ length: 4 }, () => new Error('away')))
  await undecided.refuse({ id: 'x', instance: 'shop' })
  await undecided.refuse({ id: 'y', instance: 'other' })
  await undecided.rest('shop')
  assert.ok(undecided.has('x'))
  undecided.leave('shop')
  assert.deepEqual([undecided.has('x'), undecided.has('y'), asked], [false, true, ['x', 'y', 'x']])
})

test('a row that another call has withdrawn meanwhile opens its callback', async () => {
  const { undecided } = setUp({ status: 'refused', shown: 'unsure', reason: writeReason('storedTooLate') })
  assert.equal(await undecided.reopen({ id: 'x' }), true)
})
