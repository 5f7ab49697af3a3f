import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { writeReason } from '../../src/core/reasons/reason.ts'
import { ImportMarks } from '../../src/storage/stores/history/import-marks.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import { InboxStore } from '../../src/storage/stores/messages/inbox-store.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import { RestoredStore } from '../../src/storage/stores/restored-store.ts'
import { message } from '../bridge/inbound/harness/bridge-bed.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const hour = 3_600_000
const madeAt = 1_800_000_000_000
const now = madeAt + hour

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const { query } = database
    const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
    const outbox = new OutboxStore(
      database,
      (instance) => holdOf(instance, epoch),
      () => nodeHold(epoch),
    )
    const transitions = new OutboxTransitions(database, (instance) => holdOf(instance, epoch))
    const restored = new RestoredStore(database, engine === 'sqlite' ? () => nodeHold(epoch) : undefined)
    const accept = (id: string, createdAt: number, messageId: number | null = null) =>
      outbox.enqueue(sampleOutboxRow(id, { createdAt, messageId }), null)
    const row = async (id: string) => (await outbox.find(id)) ?? assert.fail(`no row ${id}`)
    const fail = async (id: string) => transitions.fail(await row(id), 'no', now, now)
    const map = (instance: string, destination: string, messageId: number) => {
      const place = { id: `${instance} ${destination}`, instance, destination, chat: 'c', sender: 's', kind: 'message' }
      const network = { network_id: 'W', direction: 'in', network_key: '{}', network_at: 1, claimed_at: 1 } as const
      return database.write(
        query.insertInto('message_map').values({ ...place, ...network, conversation_id: 1, message_id: messageId }),
      )
    }
    const receive = async (id: string, instance: string) => {
      await database.write(new JournalStore(database).inbox({ id, instance, event: message('hi'), receivedAt: 1 }))
    }
    await database.write(query.updateTable('lease').set({ backup_at: madeAt }))
    const owned = stack.move()
    return {
      ...{ database, epoch, outbox, transitions, restored, accept, row, fail, map, receive },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  }

  describe(`a database from a backup, on ${engine}`, () => {
    test('a message that waits in it is not sent again, and the agent learns why', async () => {
      await using stage = await setUp()
      const { outbox, accept, row, restored } = stage
      await accept('r1', madeAt - 48 * hour, 70)
      await accept('r2', madeAt)
      assert.equal((await restored.prepare(now))?.unsent, 2)
      const { status, reason, shown, lookAt, settledAt } = await row('r1')
      assert.deepEqual(
        [status, reason, shown, lookAt, settledAt],
        ['failed', writeReason('restored'), 'sent', now, now],
      )
      // There is no message at the helpdesk to look at.
      assert.equal((await row('r2')).lookAt, null)
      assert.deepEqual(await outbox.live('shop'), [])
      assert.equal((await outbox.totals('shop')).failed, 2)
    })

    test('a deletion that waits in it is made', async () => {
      await using stage = await setUp()
      const { outbox, restored, row } = stage
      await outbox.enqueue(sampleOutboxRow('r1', { kind: 'revoke', payload: { type: 'revoke', messageId: 7 } }), null)
      await restored.prepare(now)
      assert.equal((await row('r1')).status, 'pending')
    })

    test('a failed message may have been sent by a Retry since, unless it is too old for one', async () => {
      await using stage = await setUp()
      const { accept, fail, row, restored } = stage
      await accept('young', madeAt - 23 * hour, 70)
      await accept('old', madeAt - 25 * hour, 71)
      for (const id of ['young', 'old']) await fail(id)
      await restored.prepare(now)
      assert.deepEqual(
        (await Promise.all(['young', 'old'].map(row))).map(({ reason }) => reason),
        [writeReason('restored'), 'no'],
      )
    })

    test('a received event is searched for behind the newest message that the backup knows', async () => {
      await using stage = await setUp()
      const { database, map, receive, restored } = stage
      await map('shop', 'one', 900)
      await map('shop', 'two', 40)
      await map('other', 'one', 7)
      await receive('i1', 'shop')
      await receive('i2', 'new')
      assert.equal((await restored.prepare(now))?.searched, 2)
      const rows = await new InboxStore(database).load(['i1', 'i2'])
      assert.deepEqual(
        rows.map(({ postedAfter }) => postedAfter),
        [40, 0],
      )
      await receive('i3', 'shop')
      assert.equal('postedAfter' in ((await new InboxStore(database).load(['i3']))[0] ?? {}), false)
    })

    test('a message that was written before the restore counts as older than the first callback', async () => {
      await using stage = await setUp()
      const callbacks = new FirstCallbackStore(stage.database, () => nodeHold(stage.epoch))
      await callbacks.note('desk', 5)
      await stage.restored.prepare(now)
      assert.equal(await callbacks.find('desk'), now)
    })

    test('an import that was under way has failed, and its conversation takes messages of agents again', async () => {
      await using stage = await setUp()
      const { database, epoch, restored } = stage
      const job = { type: 'history_all', instance: 'shop', params: '{}', created_at: 1 } as const
      const place = { destination: 'd', conversationId: 5, instance: 'shop', chat: 'c' }
      await new ImportMarks(database).begin(holdOf('shop', epoch), place, { isHistory: true, now: 1 })
      for (const status of ['pending', 'running', 'completed'] as const) {
        await database.write(database.query.insertInto('jobs').values({ id: status, status, ...job }))
      }
      await restored.prepare(now)
      const jobs = database.query.selectFrom('jobs').select(['id', 'status', 'ended_at']).orderBy('id')
      assert.deepEqual(await database.read(jobs), [
        { id: 'completed', status: 'completed', ended_at: null },
        { id: 'pending', status: 'failed', ended_at: now },
        { id: 'running', status: 'failed', ended_at: now },
      ])
      const marks = database.query
        .selectFrom('conversation_chats')
        .select(['is_importing', 'is_history', 'import_ended_at'])
      assert.deepEqual(await database.read(marks), [{ is_importing: null, is_history: 1, import_ended_at: now }])
    })

    test('the note of the manual for PostgreSQL is the time of the restore', async (context) => {
      if (engine !== 'postgres') {
        context.skip('SQLite has npm run restore')
        return
      }
      await using stage = await setUp()
      const manual = readFileSync('docs/backup.md', 'utf8')
      const sql = /psql "\$DATABASE_URL" -c "(UPDATE lease SET backup_at [^"]*)"/.exec(manual)?.[1]
      assert.ok(sql, 'the manual has no statement')
      await stage.database.write({ sql, parameters: [] })
      const madeAt = (await stage.restored.prepare(now))?.madeAt ?? 0
      assert.ok(Math.abs(madeAt - Date.now()) < hour, String(madeAt))
    })

    test('a restored database is prepared once', async () => {
      await using stage = await setUp()
      const { accept, row, restored } = stage
      assert.equal((await restored.prepare(now))?.madeAt, madeAt)
      await accept('r1', now)
      assert.equal(await restored.prepare(now + 1), undefined)
      assert.equal((await row('r1')).status, 'pending')
    })

    test('a process that lost the lease prepares nothing', async (context) => {
      if (engine === 'postgres') {
        context.skip('PostgreSQL has no lease')
        return
      }
      await using stage = await setUp()
      await stage.accept('r1', madeAt)
      const stale = new RestoredStore(stage.database, () => nodeHold(stage.epoch + 1))
      assert.equal(await stale.prepare(now), undefined)
      assert.equal((await stage.row('r1')).status, 'pending')
    })

    test('of two processes that start at once, one prepares it', async () => {
      await using stage = await setUp()
      await stage.accept('r1', madeAt)
      const found = await Promise.all([stage.restored.prepare(now), stage.restored.prepare(now)])
      assert.deepEqual(found.map((each) => each?.unsent ?? 0).sort(), [0, 1])
      assert.equal((await stage.outbox.totals('shop')).failed, 1)
      const audit = stage.database.query.selectFrom('audit').select('action')
      assert.deepEqual(await stage.database.read(audit), [{ action: 'backend.restored' }])
    })
  })
}
