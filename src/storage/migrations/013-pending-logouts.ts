// The logouts that WhatsApp has not confirmed yet.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE pending_logouts (
    session_id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    owner_tag TEXT NOT NULL,
    asked_at BIGINT NOT NULL
  )`,
]

export const pendingLogouts: Migration = {
  version: 13,
  name: 'pending-logouts',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
