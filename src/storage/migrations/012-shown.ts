// What the helpdesk shows of a message, when we look at it, and when each destination gave us its first callback.
// The columns `report` and `report_at` stay: a process of an earlier build may still use them. The next takeover translates
// them.

import type { Migration } from './migration.ts'

const statements = [
  "ALTER TABLE outbox ADD COLUMN shown TEXT NOT NULL DEFAULT 'unsure'",
  'ALTER TABLE outbox ADD COLUMN look_at BIGINT',
  'CREATE INDEX outbox_by_look ON outbox (look_at) WHERE look_at IS NOT NULL',
  "CREATE INDEX outbox_unsure ON outbox (created_at) WHERE shown = 'unsure'",
  // They only made the reports of earlier builds faster.
  'DROP INDEX outbox_by_report',
  'DROP INDEX outbox_by_ask',
  'CREATE TABLE first_callbacks (destination TEXT PRIMARY KEY, heard_at BIGINT NOT NULL)',
]

export const shown: Migration = { version: 12, name: 'shown', besides: true, sqlite: statements, postgres: statements }
