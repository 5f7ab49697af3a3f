// The rows of an instance begin to wait for its connection.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { holds } from '../harness/holds.ts'

for (const engine of engines) {
  describe(`rows that begin to wait on ${engine}`, () => {
    test('each is audited once, however many callers say so at the same time', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await new LeaseStore(database).acquire('me', 60_000)
      const outbox = new OutboxStore(database, holds.holdOf, holds.nodeHold)
      const transitions = new OutboxTransitions(database, holds.holdOf)
      const ids = Array.from({ length: 100 }, (_, n) => `row-${n}`)
      for (const id of ids) await outbox.enqueue(sampleOutboxRow(id), null)
      await Promise.all(Array.from({ length: 10 }, () => transitions.startWaiting('shop', 5000)))
      const entries = await new AuditStore(database).list({ limit: 2000 })
      assert.deepEqual(entries.map(({ target }) => target).sort(), ids.sort())
      assert.equal(await outbox.countWaiting('shop'), 100)
    })

    test('none is audited twice, also when rows are stored meanwhile', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await new LeaseStore(database).acquire('me', 60_000)
      const outbox = new OutboxStore(database, holds.holdOf, holds.nodeHold)
      const transitions = new OutboxTransitions(database, holds.holdOf)
      const ids = Array.from({ length: 150 }, (_, n) => `row-${n}`)
      const wait = () => transitions.startWaiting('shop', 5000)
      await Promise.all(ids.flatMap((id) => [outbox.enqueue(sampleOutboxRow(id), null), wait(), wait()]))
      await wait()
      const audited = (await new AuditStore(database).list({ limit: 2000 })).map(({ target }) => target)
      assert.equal(new Set(audited).size, audited.length)
      assert.equal(await outbox.countWaiting('shop'), ids.length)
    })
  })
}
