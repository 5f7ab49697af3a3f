// What the helpdesk shows of a message, when we look at it, and when each destination gave us its first callback.
// The columns `report` and `report_at`, which these columns replace, are not used any more.

import type { Migration } from './migration.ts'

const statements = [
  "ALTER TABLE outbox ADD COLUMN shown TEXT NOT NULL DEFAULT 'sent'",
  'ALTER TABLE outbox ADD COLUMN look_at BIGINT',
  "UPDATE outbox SET shown = 'told' WHERE report = 'done'",
  "UPDATE outbox SET shown = 'failed' WHERE report = 'asked' OR (report = 'due' AND status = 'refused')",
  "UPDATE outbox SET shown = 'unsure' WHERE report = 'given_up' OR (report = 'due' AND status <> 'refused')",
  "UPDATE outbox SET look_at = report_at WHERE report IN ('due', 'asked')",
  "UPDATE outbox SET expires_at = NULL WHERE status IN ('failed', 'expired', 'refused') AND report <> 'asked'",
  'CREATE INDEX outbox_by_look ON outbox (look_at) WHERE look_at IS NOT NULL',
  "CREATE INDEX outbox_unsure ON outbox (created_at) WHERE shown = 'unsure'",
  'CREATE TABLE first_callbacks (destination TEXT PRIMARY KEY, heard_at BIGINT NOT NULL)',
  `INSERT INTO first_callbacks (destination, heard_at)
    SELECT destination, MIN(heard_at) FROM (
      SELECT destination, created_at AS heard_at FROM outbox
      UNION ALL SELECT destination, settled_at AS heard_at FROM callbacks
    ) AS heard GROUP BY destination`,
]

export const shown: Migration = { version: 12, name: 'shown', sqlite: statements, postgres: statements }
