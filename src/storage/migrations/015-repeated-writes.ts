// What a repeated write is recognised by: the key of an audit entry, and the batch of counted usage.
// The answer to a commit can be lost, and then the same write is made again.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE audit ADD COLUMN entry_key TEXT',
  'CREATE UNIQUE INDEX audit_by_key ON audit (entry_key) WHERE entry_key IS NOT NULL',
  'CREATE TABLE usage_batches (id TEXT PRIMARY KEY, stored_at BIGINT NOT NULL)',
  'CREATE INDEX usage_batches_by_time ON usage_batches (stored_at)',
]

export const repeatedWrites: Migration = {
  version: 15,
  name: 'repeated-writes',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
