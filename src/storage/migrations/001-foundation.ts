// Lease, instances, tenants, usage, audit and session keys.

import type { Migration } from './migration.ts'

const tables = (bytes: string, identity: string) => [
  `CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE TABLE instances (
    name TEXT PRIMARY KEY,
    owner_tag TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL,
    jid TEXT,
    last_jid TEXT,
    session_id TEXT,
    inbox_id BIGINT NOT NULL DEFAULT 0,
    events_webhook_url TEXT NOT NULL DEFAULT '',
    events_webhook_subscribers TEXT NOT NULL DEFAULT '[]',
    spamguard_enabled BIGINT NOT NULL DEFAULT 0,
    spamguard_blocks BIGINT NOT NULL DEFAULT 0,
    last_qr_msg_id BIGINT NOT NULL DEFAULT 0,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    paired_at BIGINT,
    ready_at BIGINT,
    last_event_at BIGINT
  )`,
  `CREATE TABLE tenants (
    owner_tag TEXT PRIMARY KEY,
    downstream_base_url TEXT NOT NULL,
    downstream_api_token ${bytes} NOT NULL,
    downstream_account_id BIGINT NOT NULL,
    downstream_inbox_id BIGINT NOT NULL,
    webhook_hmac_secret ${bytes},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`,
  `CREATE TABLE usage (
    instance TEXT NOT NULL,
    day TEXT NOT NULL,
    owner_tag TEXT NOT NULL,
    messages_in BIGINT NOT NULL DEFAULT 0,
    messages_out BIGINT NOT NULL DEFAULT 0,
    spamguard_blocks BIGINT NOT NULL DEFAULT 0,
    lifecycle_events BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (instance, day, owner_tag)
  )`,
  'CREATE INDEX usage_by_day ON usage (day)',
  `CREATE TABLE audit (
    id ${identity},
    ts BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    instance TEXT NOT NULL DEFAULT '',
    owner_tag TEXT NOT NULL DEFAULT '',
    target TEXT NOT NULL DEFAULT '',
    metadata TEXT NOT NULL DEFAULT '{}'
  )`,
  'CREATE INDEX audit_by_instance ON audit (instance, id)',
  'CREATE INDEX audit_by_owner_tag ON audit (owner_tag, id)',
  `CREATE TABLE session_keys (
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key_id TEXT NOT NULL,
    value ${bytes} NOT NULL,
    PRIMARY KEY (session_id, kind, key_id)
  )`,
]

const refuse = `SELECT RAISE(ABORT, 'the audit log is append-only')`

export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  besides: true,
  sqlite: [
    ...tables('BLOB', 'INTEGER PRIMARY KEY AUTOINCREMENT'),
    `CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN ${refuse}; END`,
    `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN ${refuse}; END`,
    // INSERT OR REPLACE deletes without firing the delete trigger.
    `CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
     WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id) BEGIN ${refuse}; END`,
  ],
  postgres: [
    ...tables('BYTEA', 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY'),
    `CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$`,
    `CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
     FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change()`,
  ],
}
