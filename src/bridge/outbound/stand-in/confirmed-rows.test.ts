import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../../../test/harness/databases.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { sampleOutboxRow } from '../../../../test/harness/samples.ts'
import { openStores } from '../../../../test/storage/harness/all-stores.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import { ConfirmedRows } from './confirmed-rows.ts'

async function setUp() {
  const opened = await newDatabase('sqlite')
  const { outbox, transitions, shown } = await openStores(opened.database)
  const clock = new ManualClock()
  const told: string[] = []
  const confirmed = new ConfirmedRows({ outbox, shown, tellOwner: (instance) => void told.push(instance), clock })
  const row = sampleOutboxRow('one', { createdAt: clock.now() })
  await outbox.enqueue(row, null)
  return {
    outbox,
    transitions,
    confirmed,
    clock,
    told,
    row,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

const late = writeReason('storedTooLate')

test('a row that is confirmed cannot be withdrawn, and is looked at ten seconds later', async () => {
  await using stage = await setUp()
  const { outbox, transitions, confirmed, clock, told, row } = stage
  assert.equal(await confirmed.reopen(row), false)
  assert.equal(await transitions.withdraw(row.instance, row.id, late, clock.now()), false)
  const found = await outbox.find(row.id)
  assert.deepEqual([found?.status, found?.shown, found?.lookAt], ['pending', 'sent', clock.now() + 10_000])
  assert.deepEqual(told, [row.instance])
})

test('a row that its owner has withdrawn opens its callback', async () => {
  await using stage = await setUp()
  const { transitions, confirmed, clock, told, row } = stage
  assert.equal(await transitions.withdraw(row.instance, row.id, late, clock.now()), true)
  assert.equal(await confirmed.reopen(row), true)
  assert.deepEqual(told, [])
})

test('a row that has ended stays as it is', async () => {
  await using stage = await setUp()
  const { outbox, transitions, confirmed, clock, row } = stage
  const found = await outbox.find(row.id)
  await transitions.cancel(found ?? assert.fail(), 'deleted', clock.now())
  const before = await outbox.find(row.id)
  assert.equal(await confirmed.reopen(row), false)
  assert.deepEqual(await outbox.find(row.id), before)
})
