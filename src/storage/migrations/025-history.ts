// The history of chats: what the phone sent, the jobs that import it, and what of the import is still to be done.

import type { Migration } from './migration.ts'

const statements = [
  // The messages that the phone sent and that are not imported yet, or are part of a running import.
  `CREATE TABLE history_messages (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    chat_jid TEXT NOT NULL,
    network_id TEXT NOT NULL,
    participant TEXT NOT NULL,
    kind TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    position BIGINT NOT NULL,
    event $BYTES,
    outcome TEXT,
    job_id TEXT
  )`,
  `CREATE UNIQUE INDEX history_messages_by_identity
    ON history_messages (instance, chat_jid, network_id, participant, kind)`,
  // What is still to be imported: in the order of the chat, and by age.
  `CREATE INDEX history_messages_pending ON history_messages (instance, chat_jid, sent_at, position, id)
    WHERE outcome IS NULL`,
  'CREATE INDEX history_messages_by_age ON history_messages (sent_at) WHERE outcome IS NULL',
  // What a job has imported.
  'CREATE INDEX history_messages_of_job ON history_messages (job_id, chat_jid) WHERE job_id IS NOT NULL',
  // The oldest message that is known of each chat of the phone.
  `CREATE TABLE history_chats (
    instance TEXT NOT NULL,
    chat_jid TEXT NOT NULL,
    anchor TEXT,
    anchor_at BIGINT,
    PRIMARY KEY (instance, chat_jid)
  )`,
  `CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    instance TEXT NOT NULL,
    status TEXT NOT NULL,
    params TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    error TEXT,
    progress TEXT,
    result TEXT
  )`,
  'CREATE INDEX jobs_by_instance ON jobs (instance, status)',
  // The chats of a job. A row is the cursor of the import of its chat.
  `CREATE TABLE import_chats (
    job_id TEXT NOT NULL,
    chat TEXT NOT NULL,
    jids TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    anchor TEXT,
    destination TEXT,
    opening_since BIGINT,
    conversation_id BIGINT,
    target TEXT,
    seen BIGINT NOT NULL DEFAULT 0,
    kept BIGINT NOT NULL DEFAULT 0,
    posted BIGINT NOT NULL DEFAULT 0,
    skipped BIGINT NOT NULL DEFAULT 0,
    errors BIGINT NOT NULL DEFAULT 0,
    oldest_at BIGINT,
    newest_at BIGINT,
    PRIMARY KEY (job_id, chat)
  )`,
  // Posted messages whose date at the helpdesk is still to be corrected.
  `CREATE TABLE message_dates (
    destination TEXT NOT NULL,
    message_id BIGINT NOT NULL,
    base_url TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    inbox_id BIGINT NOT NULL,
    conversation_id BIGINT NOT NULL,
    source_id TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    is_held BIGINT,
    PRIMARY KEY (destination, message_id)
  )`,
  'CREATE INDEX message_dates_due ON message_dates (base_url, queued_at)',
  'CREATE INDEX message_dates_by_time ON message_dates (queued_at)',
  // A conversation that holds only history, one that is under import, and when its import ended.
  'ALTER TABLE conversation_chats ADD COLUMN is_history BIGINT',
  'ALTER TABLE conversation_chats ADD COLUMN is_importing BIGINT',
  'ALTER TABLE conversation_chats ADD COLUMN import_ended_at BIGINT',
  'CREATE INDEX conversation_chats_importing ON conversation_chats (is_importing) WHERE is_importing IS NOT NULL',
  'CREATE INDEX conversation_chats_imported ON conversation_chats (import_ended_at) WHERE import_ended_at IS NOT NULL',
  // Whether the history is imported when the account is linked, for how many days, and for how many days the phone was asked.
  'ALTER TABLE instances ADD COLUMN history_enabled BIGINT NOT NULL DEFAULT 0',
  'ALTER TABLE instances ADD COLUMN history_days BIGINT NOT NULL DEFAULT 7',
  'ALTER TABLE instances ADD COLUMN history_asked_days BIGINT NOT NULL DEFAULT 0',
]

const typed = (bytes: string) => statements.map((statement) => statement.replace('$BYTES', bytes))

export const history: Migration = {
  version: 25,
  name: 'history',
  besides: true,
  sqlite: typed('BLOB'),
  postgres: typed('BYTEA'),
}
