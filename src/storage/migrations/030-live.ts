// What the dashboard shows of each instance: how its state changed, and when it last received and sent a message.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE state_changes (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    at BIGINT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL
  )`,
  'CREATE INDEX state_changes_by_instance ON state_changes (instance, at)',
  'CREATE INDEX state_changes_by_time ON state_changes (at)',
  `CREATE TABLE last_messages (
    instance TEXT PRIMARY KEY,
    in_at BIGINT,
    out_at BIGINT
  )`,
]

export const live: Migration = { version: 30, name: 'live', besides: true, sqlite: statements, postgres: statements }
