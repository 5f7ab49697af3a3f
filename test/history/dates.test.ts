// Posted messages get their true dates in Chatwoot's database every 30 s, also after an outage of that database.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../harness/databases.ts'
import { DateBed, now, past } from './harness/date-bed.ts'
import { holdOf } from '../harness/holds.ts'

const resolved = 1
const pending = 2

describe('true dates', { skip: withoutPostgres, concurrency: 3 }, () => {
  test('a posted message has its true date after 30 s, and is looked at once', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1, 2)
    await bed.ticked(29_999)
    assert.deepEqual(await bed.tables.dates(), { 1: now + 1, 2: now + 2 })
    await bed.ticked(1)
    assert.deepEqual(await bed.tables.dates(), { 1: past + 1, 2: past + 2 })
    assert.deepEqual([await bed.waiting(), bed.counts()], [[], [{ corrected: 2, missing: 0 }]])
    await bed.ticked(30_000)
    assert.equal(bed.counts().length, 1)
  })

  test('a run corrects 500 messages, those that wait longest', async () => {
    await using bed = await DateBed.open()
    const ids = Array.from({ length: 501 }, (_, n) => n + 1)
    await bed.posted(...ids)
    await bed.ticked()
    assert.deepEqual(await bed.waiting(), [501])
    await bed.ticked()
    assert.deepEqual(await bed.waiting(), [])
    assert.deepEqual(new Set(Object.values(await bed.tables.dates())).size, 501)
  })

  test('a message of another installation, and a live message, stay as they are', async () => {
    await using bed = await DateBed.open()
    await bed.tables.insert({ id: 1, source_id: 'W1', created_at: now }, { id: 2, source_id: 'W2', created_at: now })
    await bed.queue(1, { baseUrl: 'https://other.example' })
    await bed.ticked()
    assert.deepEqual([await bed.tables.dates(), await bed.waiting()], [{ 1: now, 2: now }, []])
  })

  test('a message that was deleted at the helpdesk is counted and forgotten', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1)
    await bed.queue(2)
    await bed.ticked()
    assert.deepEqual([await bed.waiting(), bed.counts()], [[], [{ corrected: 1, missing: 1 }]])
  })

  test('messages of several helpdesk inboxes are corrected, each in its own', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1)
    await bed.tables.insert({ id: 2, source_id: 'W2', created_at: now, inbox_id: 9 })
    await bed.queue(2, { key: 'ninth', inboxId: 9 })
    await bed.ticked()
    assert.deepEqual([await bed.tables.dates(), await bed.waiting()], [{ 1: past + 1, 2: past + 2 }, []])
  })

  test('when its import has ended, a conversation is corrected once more', async () => {
    await using bed = await DateBed.open()
    await bed.tables.insertConversation({ id: 1, created_at: now, status: pending, last_activity_at: now + 2 })
    await bed.marks.begin(holdOf('a'), bed.conversation, { isHistory: true, now: 1 })
    await bed.posted(1, 2)
    await bed.ticked()
    assert.deepEqual(await bed.tables.dates(), { 1: past + 1, 2: past + 2 })
    assert.equal((await bed.tables.conversation(1)).last_activity_at, now + 2)
    await bed.ticked()
    assert.equal(bed.counts().length, 1, 'a held message is not corrected again')
    // Chatwoot notes that the conversation was resolved, and takes that for the last activity.
    await bed.tables.insert({ id: 3, message_type: 2, created_at: now + 60 })
    const sets = `status = ${resolved}, last_activity_at = to_timestamp(${now + 60}) AT TIME ZONE 'UTC'`
    await bed.tables.admin.query(`UPDATE conversations SET ${sets}`)
    await bed.marks.end(holdOf('a'), bed.conversation, 2)
    await bed.ticked()
    assert.equal((await bed.tables.conversation(1)).last_activity_at, past + 2)
    assert.deepEqual([await bed.waiting(), await bed.held()], [[], 0])
  })

  test('what Chatwoot has locked is corrected by a later run', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1, 2)
    await bed.tables.admin.query('BEGIN; SELECT id FROM messages WHERE id = 1 FOR UPDATE')
    await bed.ticked()
    assert.deepEqual(await bed.waiting(), [1])
    await bed.tables.admin.query('COMMIT')
    await bed.ticked()
    assert.deepEqual([await bed.waiting(), await bed.tables.dates()], [[], { 1: past + 1, 2: past + 2 }])
  })

  test('while the database is away dates wait, the log says so once, and the worker does not fail', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1)
    await bed.tables.admin.query(`ALTER ROLE ${bed.tables.role} NOLOGIN`)
    await bed.ticked()
    await bed.ticked()
    assert.deepEqual([await bed.waiting(), bed.failure, bed.warnings().length], [[1], undefined, 1])
    await bed.tables.admin.query(`ALTER ROLE ${bed.tables.role} LOGIN`)
    await bed.ticked()
    assert.deepEqual([await bed.waiting(), await bed.tables.dates()], [[], { 1: past + 1 }])
    assert.equal(bed.warnings().length, 1)
  })

  test('a date that waits for 30 days is given up', async () => {
    await using bed = await DateBed.open()
    await bed.posted(1)
    bed.clock.freeze(31 * 86_400_000)
    await bed.posted(2)
    await bed.ticked()
    assert.deepEqual([await bed.waiting(), await bed.tables.dates()], [[], { 1: now + 1, 2: past + 2 }])
  })
})
