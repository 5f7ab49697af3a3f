// Adds the keys of direct messages: a program that repeats a request gets the same answer, and nothing is sent again.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE request_keys (
    instance TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outbox_id TEXT NOT NULL,
    settled_at BIGINT NOT NULL,
    PRIMARY KEY (instance, request_key)
  )`,
  'CREATE INDEX request_keys_by_time ON request_keys (settled_at)',
  'CREATE INDEX request_keys_by_row ON request_keys (outbox_id)',
]

export const directMessages: Migration = {
  version: 27,
  name: 'direct-messages',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
