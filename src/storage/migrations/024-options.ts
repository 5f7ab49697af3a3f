// Marks the messages that offer choices, so that a start finds the chats in which an answer may come.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE message_map ADD COLUMN has_options INTEGER',
  'CREATE INDEX message_map_with_options ON message_map (instance, claimed_at) WHERE has_options = 1',
]

export const options: Migration = { version: 24, name: 'options', sqlite: statements, postgres: statements }
