// A new row of the outbox is sent without being read from the database first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { openedRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { holds } from '../harness/holds.ts'

for (const engine of engines) {
  test(`a row that was just stored on ${engine} is the row that is sent without a read`, async () => {
    await using opened = await newDatabase(engine)
    await new LeaseStore(opened.database).acquire('me', 60_000)
    const outbox = new OutboxStore(opened.database, holds.holdOf, holds.nodeHold)
    const row = { ...sampleOutboxRow('a'), isWaiting: true, expiresAt: 5000 }
    await outbox.enqueue(row, null)
    assert.deepEqual(await outbox.open('a'), openedRow(row))
  })
}
