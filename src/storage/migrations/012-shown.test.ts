import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrateSqlite } from '../engine/sqlite-migrate.ts'
import { migrations } from './all.ts'

const before = migrations.filter(({ version }) => version < 12)

test('reports of existing rows become what the helpdesk shows, and the first callbacks are known', () => {
  const database = new DatabaseSync(':memory:')
  migrateSqlite(database, before)
  const insert = database.prepare(
    `INSERT INTO outbox (id, kind, instance, owner_tag, inbox_id, destination, chat, remote_jid, status, waiting, drained,
      report, report_at, expires_at, created_at)
      VALUES (?, 'message', 'shop', '', 0, 'd1', 'p1', 'jid', ?, 0, 0, ?, ?, ?, ?)`,
  )
  insert.run('sent', 'sent', 'none', null, null, 5000)
  insert.run('told', 'expired', 'done', 7000, 6000, 3000)
  insert.run('due', 'failed', 'due', 8000, null, 4000)
  insert.run('refused', 'refused', 'due', 8000, null, 4000)
  insert.run('asked', 'failed', 'asked', 9000, 9500, 4000)
  insert.run('given up', 'failed', 'given_up', 1000, null, 4000)
  database.exec("INSERT INTO callbacks VALUES ('d2', 'message_created', 1, 'x', 2500)")
  migrateSqlite(database, migrations)
  const rows = database.prepare('SELECT id, shown, look_at, expires_at FROM outbox ORDER BY rowid').all()
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['sent', 'sent', null, null],
      ['told', 'told', null, null],
      ['due', 'unsure', 8000, null],
      ['refused', 'failed', 8000, null],
      ['asked', 'failed', 9000, 9500],
      ['given up', 'unsure', null, null],
    ],
  )
  const first = database.prepare('SELECT destination, heard_at FROM first_callbacks ORDER BY destination').all()
  assert.deepEqual(
    first.map((row) => Object.values(row)),
    [
      ['d1', 3000],
      ['d2', 2500],
    ],
  )
})
