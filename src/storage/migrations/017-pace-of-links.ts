// The proxy and the rate limit of an instance, and since when its number is linked.

import type { Migration } from './migration.ts'

const columns = (bytes: string) => [
  `ALTER TABLE instances ADD COLUMN network_proxy ${bytes}`,
  'ALTER TABLE instances ADD COLUMN outgoing_rate_limit INTEGER',
  'ALTER TABLE instances ADD COLUMN linked_jid TEXT',
  'ALTER TABLE instances ADD COLUMN linked_at BIGINT',
  'ALTER TABLE instances ADD COLUMN unlinked_at BIGINT',
  'UPDATE instances SET linked_jid = jid, linked_at = paired_at WHERE jid IS NOT NULL AND paired_at IS NOT NULL',
  // Sessions of deleted instances are logged out through the proxy that they were used with.
  `ALTER TABLE kept_sessions ADD COLUMN network_proxy ${bytes}`,
  'ALTER TABLE kept_sessions ADD COLUMN linked_at BIGINT',
  `ALTER TABLE pending_logouts ADD COLUMN network_proxy ${bytes}`,
]

export const paceOfLinks: Migration = {
  version: 17,
  name: 'pace-of-links',
  besides: true,
  sqlite: columns('BLOB'),
  postgres: columns('BYTEA'),
}
