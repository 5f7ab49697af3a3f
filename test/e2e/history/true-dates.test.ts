// After an import, a run of the worker gives the messages and conversations their true dates in Chatwoot's database.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ChatwootTables } from '../../harness/chatwoot-tables.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import type { PastShown } from './harness/past-shown.ts'
import { PhoneStage } from './harness/phone-stage.ts'
import { assertTrueDates } from './harness/true-dates.ts'

/** When messages of other helpdesk inboxes and accounts were written, in seconds. */
const today = Math.floor(Date.now() / 1000)
const strangers = [
  { from: 500_000, account_id: 1, inbox_id: 2, conversation_id: 9_000_001 },
  { from: 600_000, account_id: 2, inbox_id: 1, conversation_id: 9_000_002 },
]

for (const engine of drawnEngines(import.meta.url)) {
  describe(`after an import on ${engine}`, { skip: withoutPostgres }, () => {
    test('messages and conversations have their true dates, and those of other inboxes and accounts stay', async () => {
      await using tables = await ChatwootTables.open()
      const environment = { DOWNSTREAM_DB_URL: tables.url }
      await using stage = await PhoneStage.open({ engine, environment, chats: 6, messages: 200, speed: 8 })
      const { world, expected } = stage
      await insertStrangers(tables, expected)
      const worker = world.service.app.workers.get('dates')
      assert.ok(worker)
      // The database of the simulated helpdesk is filled below. A run before that would find no messages.
      await worker[Symbol.asyncDispose]()
      await stage.link()
      await stage.ended('history_pairing')
      await tables.follow(world.helpdesk)
      const moved = await moveAway(tables, stage)
      await worker.tick()
      stage.assertComplete()
      await assertTrueDates(stage, tables, moved)
      await assertStrangersStay(tables)
      const { database } = world.service
      assert.deepEqual(await database.read(database.query.selectFrom('message_dates').select('message_id')), [])
      assert.deepEqual(world.service.logs.withMessage('the database of the helpdesk does not do what it is asked'), [])
    })
  })
}

/** Other helpdesk inboxes have messages with the same source ids. */
async function insertStrangers(tables: ChatwootTables, expected: readonly PastShown[]): Promise<void> {
  for (const { from, ...place } of strangers) {
    const { conversation_id, ...inbox } = place
    await tables.insertConversation({ id: conversation_id, ...inbox, created_at: today })
    const rows = expected.map(({ id }, n) => ({ id: from + n, source_id: id, created_at: today, ...place }))
    await tables.insert(...rows)
  }
}

/** Three messages are not what we posted any more: they keep their dates, which are returned. */
async function moveAway(tables: ChatwootTables, stage: PhoneStage): Promise<ReadonlyMap<number, number>> {
  const before = await tables.dates()
  const [imported = []] = stage.shown().map((chat) => chat.imported)
  const changes = ['inbox_id = 2', 'account_id = 2', "source_id = 'another'"]
  const moved = new Map<number, number>()
  for (const [n, change] of changes.entries()) {
    const { id } = imported[n + 5] ?? assert.fail()
    await tables.admin.query(`UPDATE messages SET conversation_id = 9000003, ${change} WHERE id = $1`, [id])
    moved.set(id, before[id] ?? assert.fail())
  }
  return moved
}

async function assertStrangersStay(tables: ChatwootTables): Promise<void> {
  const others = Object.entries(await tables.dates()).filter(([id]) => Number(id) >= 500_000)
  assert.ok(others.length > 0 && others.every(([, at]) => at === today))
  for (const { conversation_id } of strangers) {
    const { created_at, last_activity_at } = await tables.conversation(conversation_id)
    assert.deepEqual([created_at, last_activity_at], [today, today])
  }
}
