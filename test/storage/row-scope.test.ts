// Reads of many instances return the rows that a node works on, and nothing of what another node holds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RowScope } from '../../src/core/nodes/duties.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { InboxStore, lateFile } from '../../src/storage/stores/messages/inbox-store.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { RejectedCallStore } from '../../src/storage/stores/messages/rejected-call-store.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { TickStore } from '../../src/storage/stores/messages/tick-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holds } from '../harness/holds.ts'
import { sampleInstanceColumns, sampleOutboxRow } from '../harness/samples.ts'

const names = ['held', 'elsewhere', 'deleted']

function fileColumns(instance: string) {
  const event = { seal: Buffer.from('{}'), place: '' }
  return { id: instance, instance, event, received_at: 10, kind: lateFile, last_error: null }
}

/** The phones report that the message was read, and the helpdesk is not told yet. */
function readColumns(instance: string, messageId: number) {
  const place = { destination: 'desk', chat: 'p1', conversation_id: 1, message_id: messageId }
  const times = { network_at: 1, claimed_at: 1, posting_since: null, posting_after: null, read_at: null }
  const report = { reported: 'read' as const, reported_at: 10, tick_at: 10 }
  const about = { sender: '', network_id: instance, kind: 'message', direction: 'out' as const, network_key: '{}' }
  return { id: instance, instance, ...place, ...times, ...report, ...about, content: null }
}

for (const engine of engines) {
  /** Each instance has one row in each table. */
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    await new LeaseStore(database).acquire('test', 60_000)
    const { query } = database
    const { holdOf, nodeHold } = holds
    const outbox = new OutboxStore(database, holdOf, nodeHold)
    const rejectedCalls = new RejectedCallStore(database, holdOf, nodeHold)
    for (const [n, instance] of names.entries()) {
      await database.write(query.insertInto('instances').values(sampleInstanceColumns(instance)))
      await outbox.enqueue(sampleOutboxRow(instance, { instance, messageId: n }), null)
      await rejectedCalls.claim({ instance, callId: 'C' }, { phone: '55', lid: null }, 10)
      await rejectedCalls.confirm({ instance, callId: 'C' }, { at: 20, textOnceInMs: 1000 })
      await database.write(
        query.updateTable('outbox').set({ look_at: 100 }).where('id', '=', instance),
        query.insertInto('inbox').values(fileColumns(instance)),
        query.insertInto('message_map').values(readColumns(instance, n)),
      )
    }
    await database.write(query.deleteFrom('instances').where('name', '=', 'deleted'))
    const owned = stack.move()
    const stores = {
      outbox,
      rejectedCalls,
      shown: new ShownStore(database, holdOf),
      ticks: new TickStore(database, holdOf),
      inbox: new InboxStore(database),
    }
    return { ...stores, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }
  type Stage = Awaited<ReturnType<typeof setUp>>
  type Row = { instance: string }

  const reads: Record<string, (stage: Stage, scope: RowScope) => Promise<readonly Row[]>> = {
    'rows to be sent': async ({ outbox }, scope) =>
      [...(await outbox.countPending(scope)).keys()].map((instance) => ({ instance })),
    'looks that are due': ({ shown }, scope) => shown.due(1000, 10, scope),
    'receipts that are due': ({ ticks }, scope) => ticks.due(1000, 10, [], scope),
    'files that are missing': ({ inbox }, scope) => inbox.lateFiles('', 10, scope),
    'texts to callers': ({ rejectedCalls }, scope) => rejectedCalls.dueTexts(10, scope),
  }

  describe(`the scope of a read on ${engine}`, () => {
    for (const [what, read] of Object.entries(reads)) {
      test(`${what}: of all instances, of the held ones, and those of deleted ones besides`, async () => {
        await using stage = await setUp()
        const found = async (scope: RowScope) => (await read(stage, scope)).map(({ instance }) => instance).sort()
        assert.deepEqual(await found('all'), names.toSorted())
        assert.deepEqual(await found({ held: ['held'], withDeleted: false }), ['held'])
        assert.deepEqual(await found({ held: ['held'], withDeleted: true }), ['deleted', 'held'])
        assert.deepEqual(await found({ held: [], withDeleted: false }), [])
        assert.deepEqual(await found({ held: [], withDeleted: true }), ['deleted'])
      })
    }

    test('the rows of deleted instances are those without a record', async () => {
      await using stage = await setUp()
      assert.deepEqual(
        (await stage.outbox.liveOfDeleted()).map(({ id }) => id),
        ['deleted'],
      )
    })
  })
}
