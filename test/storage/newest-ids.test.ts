import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRowIds } from '../../src/lib/row-ids.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { IdClock } from '../../src/storage/stores/newest-ids.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { allDuties, dutiesOf } from '../harness/duties.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const now = 1_800_000_000_000
const hour = 3_600_000

for (const engine of engines) {
  describe(`the newest ids on ${engine}`, () => {
    test('new ids sort after the ids that a clock an hour ahead made', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const clock = new IdClock({ database, duties: dutiesOf(['shop']), now: () => now })
      await clock.follow()
      assert.equal(clock.now(), now)
      const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
      const outbox = new OutboxStore(
        database,
        (instance) => holdOf(instance, epoch),
        () => nodeHold(epoch),
      )
      const stored = [now - hour, now + hour].map((at) => createRowIds({ now: () => at })())
      for (const id of stored) await outbox.enqueue(sampleOutboxRow(id), null)
      const alone = new IdClock({ database, duties: allDuties, now: () => now })
      await alone.take()
      assert.equal(alone.now(), now, 'no other process has made ids since the start')
      const unprotected = [...stored, createRowIds(clock)()]
      assert.notDeepEqual(unprotected, unprotected.toSorted(), 'without the look at the stored ids')
      await clock.take()
      const ids = [...stored, createRowIds(clock)()]
      assert.deepEqual(ids, ids.toSorted())
    })
  })
}
