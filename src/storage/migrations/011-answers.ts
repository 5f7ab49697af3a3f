// Adds what the service needs to answer the right person: the chats of each conversation, also of earlier conversations, the
// former phone numbers of each person, and settled callbacks by destination instead of by instance.

import type { Migration } from './migration.ts'

const conversationChats = [
  `CREATE TABLE conversation_chats (
    destination TEXT NOT NULL,
    conversation_id BIGINT NOT NULL,
    instance TEXT NOT NULL,
    chat TEXT NOT NULL,
    wrote_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (destination, conversation_id, instance, chat)
  )`,
  'CREATE INDEX conversation_chats_by_chat ON conversation_chats (instance, chat)',
  // Messages of agents do not count: they may have been sent to another chat than the one of their conversation.
  `INSERT INTO conversation_chats (destination, conversation_id, instance, chat, wrote_at, used_at)
   SELECT destination, conversation_id, instance, chat, MAX(wrote_at), MAX(used_at)
   FROM (
     SELECT destination, conversation_id, instance, chat, 0 AS wrote_at, used_at FROM conversations
     UNION ALL
     SELECT destination, conversation_id, instance, chat,
       CASE WHEN direction = 'in' THEN network_at ELSE 0 END AS wrote_at,
       CASE WHEN direction = 'in' THEN claimed_at ELSE 0 END AS used_at
     FROM message_map WHERE conversation_id IS NOT NULL AND direction <> 'out'
   ) AS known
   WHERE instance IN (SELECT name FROM instances)
   GROUP BY destination, conversation_id, instance, chat`,
]

const personPhones = [
  `CREATE TABLE person_phones (
    instance TEXT NOT NULL,
    phone TEXT NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (instance, phone)
  )`,
  'CREATE INDEX person_phones_by_person ON person_phones (instance, person)',
]

// The table `callbacks` stays: a process of an earlier build may still use it. Its rows are moved at the next takeover.
const settledCallbacks = [
  `CREATE TABLE settled_callbacks (
    destination TEXT NOT NULL,
    kind TEXT NOT NULL,
    event_id BIGINT NOT NULL,
    outbox_id TEXT NOT NULL,
    settled_at BIGINT NOT NULL,
    PRIMARY KEY (destination, kind, event_id)
  )`,
  'CREATE INDEX settled_callbacks_by_time ON settled_callbacks (settled_at)',
]

const statements = [...conversationChats, ...personPhones, ...settledCallbacks]

export const answers: Migration = {
  version: 11,
  name: 'answers',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
