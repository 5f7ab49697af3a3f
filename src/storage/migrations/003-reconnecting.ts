// When a banned account may try again, and the session that a newly scanned one replaces after its first login.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE instances ADD COLUMN retry_at BIGINT',
  'ALTER TABLE instances ADD COLUMN previous_session_id TEXT',
]

export const reconnecting: Migration = {
  version: 3,
  name: 'reconnecting',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
