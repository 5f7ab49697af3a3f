import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxPart } from '../../src/core/outbox.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'

const part = (id: string, state: OutboxPart['state']): OutboxPart => ({ id, of: 'text', state })

for (const engine of engines) {
  test(`messages that were settled since a time are found with their parts, the oldest first, on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const { database } = opened
    const { outbox, recentSends } = await openStores(database)
    const rows = [
      ['late', 'sent', 3000, [part('1', 'sent'), part('2', 'sent')]],
      ['early', 'failed', 2000, [part('3', 'sent'), part('4', 'refused'), part('5', 'unknown')]],
      ['old', 'sent', 1999, [part('6', 'sent')]],
      ['expired', 'expired', 2500, []],
      ['pending', 'pending', null, []],
    ] as const
    for (const [id, status, settledAt, parts] of rows) {
      await outbox.enqueue(sampleOutboxRow(id, { instance: id }), null)
      const changes = { status, settled_at: settledAt, parts: JSON.stringify(parts) }
      await database.write(database.query.updateTable('outbox').set(changes).where('id', '=', id))
    }
    const found = await recentSends.since(2000)
    assert.deepEqual(
      found.map(({ instance, settledAt, sent, refused }) => [instance, settledAt, sent, refused]),
      [
        ['early', 2000, 1, 1],
        ['late', 3000, 2, 0],
      ],
    )
  })
}
