import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog, silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { Hold } from '../core/nodes/hold.ts'
import { blankInstance } from '../storage/stores/accounts/instance-rows.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { RecordWriter } from './record-writer.ts'
import { holdOf } from '../../test/harness/holds.ts'

const unused = () => Promise.reject(new Error('not expected'))

test('a change is stored at every moment after the change before', async () => {
  for (let steps = 0; steps < 8; steps++) {
    const written: InstanceChanges[] = []
    const first = Promise.withResolvers<undefined>()
    const update = (_hold: Hold, changes: InstanceChanges) =>
      written.push(changes) === 1 ? first.promise : Promise.resolve()
    const clock = new ManualClock()
    const writer = new RecordWriter({
      hold: holdOf('a'),
      instances: { update, put: unused },
      clock,
      log: silentLog,
      onAnnounced: () => undefined,
    })
    void writer.save({ lastError: 'first' })
    first.resolve(undefined)
    for (let step = 0; step < steps; step++) await Promise.resolve()
    void writer.save({ lastError: 'second' })
    await clock.advance(0)
    assert.deepEqual(written.at(-1), { lastError: 'second' }, `after ${steps} steps`)
  }
})

test('a whole record is stored before the changes that come after it', async () => {
  const written: object[] = []
  let isAway = true
  const store = (what: object) => {
    if (isAway) return Promise.reject(new Error('storage is away'))
    written.push(what)
    return Promise.resolve()
  }
  const instances = {
    put: (_hold: Hold, row: InstanceRow) => store(row),
    update: (_hold: Hold, changes: InstanceChanges) => store(changes),
  }
  const clock = new ManualClock()
  const writer = new RecordWriter({
    hold: holdOf('a'),
    instances,
    clock,
    log: silentLog,
    onAnnounced: () => undefined,
  })
  writer.saveWhole(blankInstance('a', 1))
  await clock.advance(0)
  void writer.save({ lastError: 'one' })
  isAway = false
  await clock.advance(1000)
  await writer.settled()
  assert.deepEqual(written, [blankInstance('a', 1), { lastError: 'one' }])
})

test('a record that another process holds is not stored again and again, and no event of it is told', async () => {
  let attempts = 0
  const announced: unknown[] = []
  const logs = new RecordedLog()
  const refuse = ({ instance }: Hold) => {
    attempts++
    return Promise.reject(new NotHeldError(instance))
  }
  const clock = new ManualClock()
  const writer = new RecordWriter({
    hold: holdOf('a'),
    instances: { put: refuse, update: refuse },
    clock,
    log: logs.log,
    onAnnounced: (announcements) => announced.push(...announcements),
  })
  await assert.rejects(writer.save({ lastError: 'one' }), NotHeldError)
  await clock.advance(60_000)
  assert.equal(attempts, 1)
  assert.deepEqual(announced, [])
  assert.deepEqual(logs.withMessage('the record of an instance could not be stored'), [])
})
