// Lifecycle events on their way to subscribers, and how long an instance has been down.

import type { Migration } from './migration.ts'

const statements = (bytes: string) => [
  `CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    instance TEXT NOT NULL,
    url TEXT NOT NULL,
    body ${bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    last_code BIGINT,
    last_error TEXT,
    finished_at BIGINT
  )`,
  'CREATE INDEX deliveries_by_instance ON deliveries (instance, id)',
  'CREATE INDEX deliveries_by_status ON deliveries (status, finished_at)',
  'ALTER TABLE instances ADD COLUMN down_since BIGINT',
  'ALTER TABLE instances ADD COLUMN unreachable_at BIGINT',
]

export const deliveries: Migration = {
  version: 6,
  name: 'deliveries',
  besides: true,
  sqlite: statements('BLOB'),
  postgres: statements('BYTEA'),
}
