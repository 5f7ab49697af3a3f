import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { InstanceChanges } from '../storage/schema.ts'
import { RecordWriter } from './record-writer.ts'

test('a change is stored whatever moment it comes after the one before', async () => {
  for (let steps = 0; steps < 8; steps++) {
    const written: InstanceChanges[] = []
    const first = Promise.withResolvers<undefined>()
    const update = (_epoch: number, _name: string, changes: InstanceChanges) =>
      written.push(changes) === 1 ? first.promise : Promise.resolve()
    const clock = new ManualClock()
    const writer = new RecordWriter({ name: 'a', instances: { update }, epoch: () => 1, clock, log: silentLog })
    void writer.save({ last_error: 'first' })
    first.resolve(undefined)
    for (let step = 0; step < steps; step++) await Promise.resolve()
    void writer.save({ last_error: 'second' })
    await clock.advance(0)
    assert.deepEqual(written.at(-1), { last_error: 'second' }, `after ${steps} steps`)
  }
})
