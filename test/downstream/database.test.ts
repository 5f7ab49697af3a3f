// What the service changes in Chatwoot's database, and what it leaves alone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HelpdeskDatabaseError } from '../../src/core/helpdesk/helpdesk-database.ts'
import { ChatwootDatabase } from '../../src/downstream/database/chatwoot-database.ts'
import { ChatwootTables } from '../harness/chatwoot-tables.ts'
import { withoutPostgres } from '../harness/databases.ts'
import { RecordedLog } from '../harness/logs.ts'

const baseUrl = 'https://desk.example'
const inbox = { accountId: 1, inboxId: 1 }
const [from, to] = ['`+55 · ~Maria`', '`+55 · Maria Silva`']

function change(messageId: number) {
  return { messageId, sourceId: `W${messageId}`, from, to }
}

describe('headers in the database of Chatwoot', { skip: withoutPostgres, concurrency: 3 }, () => {
  test('a message begins with the new header, also in the text that agents see', async () => {
    await using tables = await ChatwootTables.open()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: new RecordedLog().log })
    await tables.insert(
      { id: 1, content: `${from}\n\nhello`, source_id: 'W1' },
      { id: 2, content: from, processed_message_content: null, source_id: 'W2' },
    )
    const done = await database.rewriteHeaders(inbox, [change(1), change(2)])
    assert.deepEqual([[...done.current].sort(), done.changed], [[1, 2], 2])
    const shown = (await tables.rows()).map((row) => [row.content, row.processed_message_content])
    assert.deepEqual(shown, [
      [`${to}\n\nhello`, `${to}\n\nhello`],
      [to, null],
    ])
    const again = await database.rewriteHeaders(inbox, [change(1)])
    assert.deepEqual(again, { current: [1], changed: 0 }, 'a lost answer is made good')
  })

  test('a new header that begins with the old one is written once', async () => {
    await using tables = await ChatwootTables.open()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: new RecordedLog().log })
    await tables.insert({ id: 1, content: 'Ann: hello', source_id: 'W1' })
    const longer = { messageId: 1, sourceId: 'W1', from: 'Ann', to: 'Anna' }
    assert.deepEqual(await database.rewriteHeaders(inbox, [longer]), { current: [1], changed: 1 })
    assert.deepEqual(await database.rewriteHeaders(inbox, [longer]), { current: [1], changed: 0 })
    const back = { ...longer, from: 'Anna', to: 'Ann' }
    const shown = [(await tables.rows())[0]?.content]
    assert.deepEqual(await database.rewriteHeaders(inbox, [back]), { current: [1], changed: 1 })
    shown.push((await tables.rows())[0]?.content)
    assert.deepEqual(shown, ['Anna: hello', 'Ann: hello'])
  })

  test('a message of another inbox, account or source, or with another beginning, stays as it is', async () => {
    await using tables = await ChatwootTables.open()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: new RecordedLog().log })
    const content = `${from}\n\nhello`
    await tables.insert(
      { id: 1, content, source_id: 'W1', inbox_id: 2 },
      { id: 2, content, source_id: 'W2', account_id: 2 },
      { id: 3, content, source_id: 'another' },
      { id: 4, content: 'This message was deleted', source_id: 'W4' },
      { id: 5, content: ` ${content}`, source_id: 'W5' },
      { id: 6, content: null, source_id: 'W6' },
      { id: 7, content: `${from}${'x'.repeat(150_000 - from.length)}`, source_id: 'W7' },
    )
    const before = await tables.rows()
    const done = await database.rewriteHeaders(inbox, [1, 2, 3, 4, 5, 6, 7, 8].map(change))
    assert.deepEqual(done, { current: [], changed: 0 })
    assert.deepEqual(await tables.rows(), before)
  })

  test('a text that was changed apart from the content stays as it is', async () => {
    await using tables = await ChatwootTables.open()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: new RecordedLog().log })
    await tables.insert({ id: 1, content: `${from} x`, processed_message_content: 'translated', source_id: 'W1' })
    await database.rewriteHeaders(inbox, [change(1)])
    const [row] = await tables.rows()
    assert.deepEqual([row?.content, row?.processed_message_content], [`${to} x`, 'translated'])
  })

  test('a lock of Chatwoot ends the change, and the next one succeeds', async () => {
    await using tables = await ChatwootTables.open()
    const logs = new RecordedLog()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: logs.log })
    await tables.insert({ id: 1, content: `${from}\n\nhello`, source_id: 'W1' })
    await tables.admin.query('BEGIN; SELECT * FROM messages FOR UPDATE')
    await assert.rejects(database.rewriteHeaders(inbox, [change(1)]), HelpdeskDatabaseError)
    await assert.rejects(database.rewriteHeaders(inbox, [change(1)]), /lock timeout/)
    await tables.admin.query('COMMIT')
    assert.equal((await database.rewriteHeaders(inbox, [change(1)])).changed, 1)
    const lines = logs.lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    assert.deepEqual(lines, [
      'the database of the helpdesk does not do what it is asked',
      'the database of the helpdesk answers again',
    ])
  })

  test('a connection that the server ended is opened anew', async () => {
    await using tables = await ChatwootTables.open()
    await using database = new ChatwootDatabase({ url: tables.url, baseUrl, log: new RecordedLog().log })
    await tables.insert({ id: 1, content: `${from}\n\nhello`, source_id: 'W1' })
    await database.rewriteHeaders(inbox, [])
    await tables.admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    // The pool may notice the end only with the next question.
    const first = await database.rewriteHeaders(inbox, [change(1)]).catch(() => null)
    const done = first ?? (await database.rewriteHeaders(inbox, [change(1)]))
    assert.deepEqual(done.current, [1])
  })
})

test('a database that is away is an error that does not tell the password', async () => {
  const logs = new RecordedLog()
  const url = 'postgres://causeway:canary@127.0.0.1:9/chatwoot'
  await using database = new ChatwootDatabase({ url, baseUrl, log: logs.log })
  await assert.rejects(database.rewriteHeaders(inbox, [change(1)]), HelpdeskDatabaseError)
  assert.equal(logs.lines.length, 1)
  assert.ok(!JSON.stringify(logs.lines).includes('canary'))
})

test('a database serves the Chatwoot that is configured with it, and no other', async () => {
  const log = new RecordedLog().log
  await using database = new ChatwootDatabase({
    url: 'postgres://127.0.0.1:9/x',
    baseUrl: 'https://desk.example/',
    log,
  })
  const served = [
    'https://desk.example',
    'https://desk.example:443/',
    'https://other.example',
    'https://desk.example/two',
  ]
  assert.deepEqual(
    served.map((each) => database.serves({ baseUrl: each })),
    [true, true, false, false],
  )
})
