// Sending: the outbox with its totals, the settled callbacks, and the restrictions of the network.

import type { Migration } from './migration.ts'

const tables = (bytes: string) => [
  `CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    instance TEXT NOT NULL,
    owner_tag TEXT NOT NULL,
    inbox_id BIGINT NOT NULL,
    destination TEXT NOT NULL,
    chat TEXT NOT NULL,
    remote_jid TEXT NOT NULL,
    conversation_id BIGINT,
    message_id BIGINT,
    status TEXT NOT NULL,
    waiting BIGINT NOT NULL,
    drained BIGINT NOT NULL,
    expires_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL DEFAULT 0,
    unconfirmed BIGINT NOT NULL DEFAULT 0,
    parts TEXT NOT NULL DEFAULT '[]',
    payload ${bytes},
    fingerprint TEXT,
    reason TEXT,
    report TEXT NOT NULL DEFAULT 'none',
    report_at BIGINT,
    created_at BIGINT NOT NULL,
    settled_at BIGINT
  )`,
  'CREATE INDEX outbox_by_status ON outbox (status, instance, id)',
  'CREATE INDEX outbox_by_chat ON outbox (instance, chat, id)',
  'CREATE INDEX outbox_by_message ON outbox (destination, message_id)',
  'CREATE INDEX outbox_by_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL',
  "CREATE INDEX outbox_by_report ON outbox (report_at) WHERE report = 'due'",
  `CREATE TABLE outbox_totals (
    instance TEXT PRIMARY KEY,
    sent BIGINT NOT NULL DEFAULT 0,
    expired BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0
  )`,
  `CREATE TABLE callbacks (
    instance TEXT NOT NULL,
    destination TEXT NOT NULL,
    kind TEXT NOT NULL,
    event_id BIGINT NOT NULL,
    outbox_id TEXT NOT NULL,
    settled_at BIGINT NOT NULL,
    PRIMARY KEY (instance, destination, kind, event_id)
  )`,
  'CREATE INDEX callbacks_by_time ON callbacks (settled_at)',
  'CREATE INDEX message_map_by_chat ON message_map (instance, chat, direction, claimed_at)',
  "CREATE INDEX message_map_unread ON message_map (destination, conversation_id) WHERE direction = 'in' AND read_at IS NULL",
  `CREATE TABLE restrictions (
    instance TEXT PRIMARY KEY,
    until BIGINT NOT NULL,
    struck_at BIGINT NOT NULL
  )`,
]

export const outbox: Migration = {
  version: 5,
  name: 'outbox',
  besides: true,
  sqlite: tables('BLOB'),
  postgres: tables('BYTEA'),
}
