// Labels: what the network has, and what each chat had when network and helpdesk last agreed.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE labels (
    instance TEXT NOT NULL,
    label_id TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT,
    PRIMARY KEY (instance, label_id)
  )`,
  `CREATE TABLE labelled_chats (
    instance TEXT NOT NULL,
    jid TEXT NOT NULL,
    label_id TEXT NOT NULL,
    PRIMARY KEY (instance, jid, label_id)
  )`,
  'CREATE INDEX labelled_chats_by_label ON labelled_chats (instance, label_id, jid)',
  `CREATE TABLE label_agreements (
    instance TEXT NOT NULL,
    chat TEXT NOT NULL,
    destination TEXT,
    conversation_id BIGINT,
    titles TEXT NOT NULL,
    mark TEXT NOT NULL,
    due_at BIGINT,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (instance, chat)
  )`,
  'CREATE INDEX label_agreements_due ON label_agreements (instance, due_at) WHERE due_at IS NOT NULL',
]

export const labels: Migration = {
  version: 29,
  name: 'labels',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
