// Adds indexes for lookups that had to read a whole table, and a table of the keys that may have sealed values. With that
// table a start need not read all stored values.

import type { Migration } from './migration.ts'

const statements = [
  'CREATE INDEX conversations_by_source ON conversations (destination, source_id)',
  'CREATE INDEX conversations_by_contact ON conversations (destination, contact_id)',
  'CREATE INDEX conversations_by_chat ON conversations (instance, chat, destination)',
  'CREATE INDEX contacts_by_contact ON contacts (destination, contact_id)',
  'CREATE INDEX settled_callbacks_by_row ON settled_callbacks (outbox_id)',
  "CREATE INDEX inbox_late_files ON inbox (id) WHERE kind = 'late_file'",
  "CREATE INDEX deliveries_pending ON deliveries (status, instance, id) WHERE status = 'pending'",
  `CREATE INDEX message_map_unread_messages ON message_map (destination, conversation_id)
   WHERE direction = 'in' AND kind = 'message' AND read_at IS NULL`,
  // It also held reactions, which are never marked read.
  'DROP INDEX message_map_unread',
  'CREATE TABLE sealing_keys (id TEXT PRIMARY KEY)',
]

export const lookups: Migration = {
  version: 16,
  name: 'lookups',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
