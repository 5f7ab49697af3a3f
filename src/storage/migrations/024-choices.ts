// Marks the messages that offer choices, so that a start finds the chats in which an answer may come.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE message_map ADD COLUMN has_choices INTEGER',
  'CREATE INDEX message_map_with_choices ON message_map (instance, claimed_at) WHERE has_choices = 1',
]

export const choices: Migration = {
  version: 24,
  name: 'choices',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
