// Receiving: opened envelopes, unfinished stanzas, the inbox; people, contacts, conversations and the message map.

import type { Migration } from './migration.ts'

const tables = (bytes: string) => [
  `CREATE TABLE opened (
    session_id TEXT NOT NULL,
    envelope TEXT NOT NULL,
    opened_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, envelope)
  )`,
  'CREATE INDEX opened_by_time ON opened (opened_at)',
  `CREATE TABLE unfinished (
    session_id TEXT NOT NULL,
    stanza_id TEXT NOT NULL,
    stored_at BIGINT NOT NULL,
    stanza ${bytes} NOT NULL,
    PRIMARY KEY (session_id, stanza_id)
  )`,
  `CREATE TABLE inbox (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    event ${bytes} NOT NULL,
    received_at BIGINT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    attempts BIGINT NOT NULL DEFAULT 0,
    kind TEXT NOT NULL,
    last_error TEXT
  )`,
  'CREATE INDEX inbox_by_instance ON inbox (instance, state, id)',
  `CREATE TABLE people (
    instance TEXT NOT NULL,
    id TEXT NOT NULL,
    phone TEXT,
    lid TEXT,
    push_name TEXT,
    saved_name TEXT,
    PRIMARY KEY (instance, id)
  )`,
  'CREATE UNIQUE INDEX people_by_phone ON people (instance, phone) WHERE phone IS NOT NULL',
  'CREATE UNIQUE INDEX people_by_lid ON people (instance, lid) WHERE lid IS NOT NULL',
  `CREATE TABLE contacts (
    destination TEXT NOT NULL,
    source_id TEXT NOT NULL,
    contact_id BIGINT NOT NULL,
    ours BIGINT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (destination, source_id)
  )`,
  `CREATE TABLE conversations (
    instance TEXT NOT NULL,
    destination TEXT NOT NULL,
    chat TEXT NOT NULL,
    conversation_id BIGINT NOT NULL,
    contact_id BIGINT NOT NULL,
    source_id TEXT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (instance, destination, chat)
  )`,
  'CREATE INDEX conversations_by_id ON conversations (destination, conversation_id)',
  `CREATE TABLE message_map (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    destination TEXT NOT NULL,
    chat TEXT NOT NULL,
    sender TEXT NOT NULL,
    network_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    direction TEXT NOT NULL,
    network_key TEXT NOT NULL,
    network_at BIGINT NOT NULL,
    conversation_id BIGINT,
    message_id BIGINT,
    claimed_at BIGINT NOT NULL,
    posting_since BIGINT,
    posting_after BIGINT,
    read_at BIGINT,
    content ${bytes},
    UNIQUE (instance, destination, chat, sender, network_id, kind)
  )`,
  'CREATE INDEX message_map_by_network_id ON message_map (instance, network_id)',
  'CREATE INDEX message_map_by_message ON message_map (destination, message_id)',
  'CREATE INDEX message_map_by_time ON message_map (claimed_at)',
]

export const inbox: Migration = {
  version: 4,
  name: 'inbox',
  besides: true,
  sqlite: tables('BLOB'),
  postgres: tables('BYTEA'),
}
