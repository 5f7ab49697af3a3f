// The dates of imported messages in Chatwoot's database: what is corrected, and what stays.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HelpdeskDatabaseError } from '../../src/core/helpdesk/helpdesk-database.ts'
import { ChatwootDatabase } from '../../src/downstream/database/chatwoot-database.ts'
import { ChatwootTables, conversationRowId } from '../harness/chatwoot-tables.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { RecordedLog } from '../harness/logs.ts'
import { HelpdeskBed, text } from './harness/helpdesk-bed.ts'

const inbox = { accountId: 1, inboxId: 1 }
/** When the messages were written, and when they were imported, in seconds. */
const past = Date.UTC(2026, 9, 20, 9, 30) / 1000
const now = Date.UTC(2026, 10, 16, 12) / 1000
const [outgoing, activity, template] = [1, 2, 3]
const [open, resolved, pending] = [0, 1, 2]

async function setUp() {
  await using stack = new AsyncDisposableStack()
  const tables = stack.use(await ChatwootTables.open())
  const logs = new RecordedLog()
  const baseUrl = 'https://desk.example'
  const database = stack.use(new ChatwootDatabase({ url: tables.url, baseUrl, log: logs.log }))
  const messages = () => logs.lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  const owned = stack.move()
  return { tables, database, messages, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Message `id` was written `after` seconds after `past`. */
function date(id: number, after = id) {
  return { messageId: id, sourceId: `W${id}`, at: (past + after) * 1000 }
}

function imported(id: number, fields: object = {}) {
  return { id, content: `text ${id}`, source_id: `W${id}`, created_at: now + id, ...fields }
}

describe('dates in the database of Chatwoot', { skip: withoutPostgres, concurrency: 3 }, () => {
  test('messages and attachments have the time at which they were written, in UTC', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    const [session] = (
      await tables.admin.query<{ rolconfig: string[] }>(
        `SELECT rolconfig FROM pg_roles WHERE rolname = '${tables.role}'`,
      )
    ).rows
    assert.deepEqual(session?.rolconfig, ['TimeZone=America/Sao_Paulo'])
    await tables.insert(imported(1), imported(2), imported(3, { source_id: 'live' }))
    await tables.insertAttachments({ id: 7, message_id: 2, created_at: now }, { id: 8, message_id: 3, created_at: now })
    const done = await database.backdate(inbox, [date(1), date(2)])
    assert.deepEqual([[...done.corrected].sort(), done.missing], [[1, 2], []])
    assert.deepEqual(await tables.dates(), { 1: past + 1, 2: past + 2, 3: now + 3 })
    assert.deepEqual(await tables.dates('attachments'), { 7: past + 2, 8: now })
    assert.deepEqual(await database.backdate(inbox, [date(1)]), { corrected: [1], missing: [] }, 'a second time')
    assert.deepEqual(await tables.dates(), { 1: past + 1, 2: past + 2, 3: now + 3 })
  })

  test('messages of another account, inbox or source stay as they are', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insertConversation({ id: 1, created_at: now, account_id: 2 })
    await tables.insertConversation({ id: 2, created_at: now, inbox_id: 2 })
    await tables.insertConversation({ id: 3, created_at: now })
    await tables.insert(
      imported(1, { account_id: 2, conversation_id: 1 }),
      imported(2, { inbox_id: 2, conversation_id: 2 }),
      imported(3, { source_id: 'another', conversation_id: 3 }),
      imported(4, { source_id: 'W5', conversation_id: 3 }),
      imported(6, { source_id: null, conversation_id: 3 }),
    )
    await tables.insertAttachments(...[1, 2, 3, 4].map((id) => ({ id, message_id: id, created_at: now })), {
      id: 5,
      message_id: 6,
      created_at: now,
    })
    const everything = async () => [
      ...[await tables.dates(), await tables.dates('attachments')],
      ...(await Promise.all([1, 2, 3].map((id) => tables.conversation(id)))),
    ]
    const before = await everything()
    const done = await database.backdate(
      inbox,
      [1, 2, 3, 4, 5, 6].map((id) => date(id)),
    )
    assert.deepEqual([done.corrected, [...done.missing].sort()], [[], [1, 2, 3, 4, 5, 6]])
    assert.deepEqual(await everything(), before)
  })

  test('an attachment of another account stays, also with the id of our message', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insert(imported(1))
    await tables.insertAttachments({ id: 1, message_id: 1, account_id: 2, created_at: now })
    await database.backdate(inbox, [date(1)])
    assert.deepEqual(await tables.dates('attachments'), { 1: now })
  })

  test('messages of the same second keep the order in which they were posted', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    const ids = Array.from({ length: 30 }, (_, n) => n + 1)
    await tables.insert(...ids.map((id) => imported(id)))
    // Two ticks of the worker: the later messages are corrected first.
    for (const part of [ids.slice(15), ids.slice(0, 15)]) {
      await database.backdate(
        inbox,
        part.map((id) => date(id, 0)),
      )
    }
    const { rows } = await tables.admin.query<{ id: number }>('SELECT id FROM messages ORDER BY created_at')
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids,
    )
    assert.deepEqual(new Set(Object.values(await tables.dates())), new Set([past]))
  })

  test('a time in the future, from a phone with a wrong clock, is not written', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insert(imported(1))
    assert.deepEqual((await database.backdate(inbox, [{ ...date(1), at: (now + 9000) * 1000 }])).corrected, [1])
    assert.deepEqual(await tables.dates(), { 1: now + 1 })
  })

  test('a resolved conversation ends with its last message; notes, lines and surveys of Chatwoot do not count', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    const times = { last_activity_at: now + 9, waiting_since: now + 2, first_reply_created_at: now + 3 }
    await tables.insertConversation({ id: 1, created_at: now, status: resolved, ...times })
    await tables.insert(
      imported(1, { message_type: outgoing, private: true, source_id: null }),
      imported(2),
      imported(3, { message_type: outgoing }),
      imported(4, { status: 3 }),
      imported(5, { message_type: outgoing, source_id: null, status: 3 }),
      imported(8, { message_type: activity, source_id: null }),
      imported(9, { message_type: template, source_id: null }),
    )
    await database.backdate(
      inbox,
      [2, 3, 4].map((id) => date(id)),
    )
    assert.deepEqual(await tables.conversation(1), {
      ...{ id: 1, status: resolved, created_at: past + 2, last_activity_at: past + 4 },
      ...{ waiting_since: null, first_reply_created_at: past + 3 },
    })
  })

  for (const [name, status] of [
    ['open', open],
    ['pending', pending],
  ] as const) {
    test(`a conversation that is ${name} keeps its last activity, by which Chatwoot resolves it`, async () => {
      await using stage = await setUp()
      const { tables, database } = stage
      const times = { last_activity_at: now + 3, waiting_since: now + 2, first_reply_created_at: past - 500 }
      await tables.insertConversation({ id: 1, created_at: past - 1000, status, ...times })
      await tables.insert(
        imported(1, { message_type: outgoing, source_id: null, created_at: past - 500 }),
        imported(2),
        imported(3),
      )
      await database.backdate(inbox, [date(2), date(3)])
      assert.deepEqual(await tables.conversation(1), {
        ...{ id: 1, status, created_at: past - 1000, last_activity_at: now + 3 },
        ...{ waiting_since: past + 2, first_reply_created_at: past - 500 },
      })
    })
  }

  test('times that Chatwoot left empty stay empty, and a live message stays the last one', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insertConversation({ id: 1, created_at: now, status: resolved, last_activity_at: now + 5 })
    await tables.insert(imported(1), imported(2, { message_type: outgoing }), imported(5, { source_id: 'live' }))
    await database.backdate(inbox, [date(1), date(2)])
    assert.deepEqual(await tables.conversation(1), {
      ...{ id: 1, status: resolved, created_at: past + 1, last_activity_at: now + 5 },
      ...{ waiting_since: null, first_reply_created_at: null },
    })
  })

  test('an import into the simulated helpdesk has its true dates, before and after its conversation is resolved', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await using bed = await HelpdeskBed.start()
    const id = await bed.openChat()
    const posted = [
      await bed.inbox.post(id, text('one', { sourceId: 'W1' })),
      await bed.inbox.post(id, text('two', { sourceId: 'W2' })),
    ]
    const dates = posted.map(({ id: messageId, sourceId }, n) => ({
      ...{ messageId, sourceId: sourceId ?? '', at: (past + n) * 1000 },
    }))
    const conversation = () => tables.conversation(conversationRowId({ accountId: 1, id }))
    await tables.follow(bed.helpdesk)
    await database.backdate(inbox, dates)
    await tables.follow(bed.helpdesk)
    const { created_at, waiting_since } = await conversation()
    assert.deepEqual([Object.values(await tables.dates()), created_at, waiting_since], [[past, past + 1], past, past])
    await bed.inbox.setConversationStatus(id, 'resolved')
    await tables.follow(bed.helpdesk)
    await database.backdate(inbox, dates.slice(1))
    const { last_activity_at, status } = await conversation()
    assert.deepEqual([last_activity_at, status], [past + 1, resolved])
  })

  test('a conversation that was deleted does not stop its messages', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insert(imported(1, { conversation_id: 77 }))
    assert.deepEqual(await database.backdate(inbox, [date(1)]), { corrected: [1], missing: [] })
  })

  test('what Chatwoot has locked is left for the next time, and the rest is corrected', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    for (const id of [1, 2, 3]) await tables.insertConversation({ id, created_at: now })
    await tables.insert(...[1, 2, 3].map((id) => imported(id, { conversation_id: id })))
    await tables.admin.query('BEGIN')
    await tables.admin.query('SELECT id FROM conversations WHERE id = 1 FOR UPDATE')
    await tables.admin.query('SELECT id FROM messages WHERE id = 2 FOR UPDATE')
    const done = await database.backdate(
      inbox,
      [1, 2, 3, 4].map((id) => date(id)),
    )
    assert.deepEqual(done, { corrected: [3], missing: [4] })
    await tables.admin.query('COMMIT')
    const next = await database.backdate(inbox, [date(1), date(2)])
    assert.deepEqual([[...next.corrected].sort(), next.missing], [[1, 2], []])
  })

  test('a live message counts from the moment at which Chatwoot has stored it', async () => {
    await using stage = await setUp()
    const { tables, database } = stage
    await tables.insertConversation({ id: 1, created_at: now, status: resolved })
    await tables.insert(imported(1))
    // Chatwoot stores the message first, and its time in the conversation a moment later.
    await tables.admin.query('BEGIN')
    await tables.insert(imported(2, { source_id: 'live' }))
    assert.deepEqual((await database.backdate(inbox, [date(1)])).corrected, [1])
    assert.equal((await tables.conversation(1)).last_activity_at, past + 1)
    await tables.admin.query('COMMIT')
    assert.deepEqual((await database.backdate(inbox, [date(1)])).corrected, [1])
    assert.equal((await tables.conversation(1)).last_activity_at, now + 2)
  })

  for (const [what, breakIt, mendIt] of [
    [
      'a right is missing',
      'REVOKE UPDATE (created_at) ON conversations FROM $role',
      'GRANT UPDATE (created_at) ON conversations TO $role',
    ],
    [
      'a column is missing',
      'ALTER TABLE attachments RENAME created_at TO made_at',
      'ALTER TABLE attachments RENAME made_at TO created_at',
    ],
    ['Chatwoot migrates its tables', 'BEGIN; LOCK TABLE messages', 'COMMIT'],
    [
      'the database is read-only',
      'ALTER ROLE $role SET default_transaction_read_only = on',
      'ALTER ROLE $role RESET default_transaction_read_only',
    ],
  ] as const) {
    test(`when ${what}, nothing is changed, the log says so once, and the next time succeeds`, async () => {
      await using stage = await setUp()
      const { tables, database, messages } = stage
      await tables.insertConversation({ id: 1, created_at: now })
      await tables.insert(imported(1))
      await tables.admin.query(breakIt.replace('$role', tables.role))
      const fails = () => assert.rejects(database.backdate(inbox, [date(1)]), HelpdeskDatabaseError)
      await fails()
      await fails()
      assert.deepEqual(await tables.dates(), { 1: now + 1 })
      await tables.admin.query(mendIt.replace('$role', tables.role))
      assert.deepEqual((await database.backdate(inbox, [date(1)])).corrected, [1])
      assert.deepEqual(messages(), [
        'the database of the helpdesk does not do what it is asked',
        'the database of the helpdesk answers again',
      ])
    })
  }

  test('headers that can be rewritten say nothing of dates that cannot be corrected', async () => {
    await using stage = await setUp()
    const { tables, database, messages } = stage
    await tables.insert(imported(1))
    await tables.admin.query(`REVOKE UPDATE (created_at) ON messages FROM ${tables.role}`)
    await assert.rejects(database.backdate(inbox, [date(1)]), /permission denied/)
    await database.rewriteHeaders(inbox, [])
    await assert.rejects(database.backdate(inbox, [date(1)]), /permission denied/)
    assert.deepEqual(messages(), ['the database of the helpdesk does not do what it is asked'])
  })
})
