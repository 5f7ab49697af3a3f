// Pairings that are under way, and the sessions of deleted instances that may be resumed.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE instances ADD COLUMN pairing_session_id TEXT',
  `CREATE TABLE kept_sessions (
    session_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    owner_tag TEXT NOT NULL,
    jid TEXT NOT NULL,
    kept_at BIGINT NOT NULL
  )`,
  'CREATE INDEX kept_sessions_by_name ON kept_sessions (name)',
]

export const instances: Migration = {
  version: 2,
  name: 'instances',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
