// Adds the names that we gave to contacts, and the headers that we wrote, so that both can follow the names of people.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE contacts ADD COLUMN given_name TEXT',
  'ALTER TABLE contacts ADD COLUMN renaming_to TEXT',
  'ALTER TABLE message_map ADD COLUMN header TEXT',
  `CREATE INDEX message_map_headers ON message_map (instance, destination, sender, claimed_at)
   WHERE header IS NOT NULL`,
  'CREATE INDEX message_map_old_headers ON message_map (claimed_at) WHERE header IS NOT NULL',
]

export const names: Migration = { version: 23, name: 'names', besides: true, sqlite: statements, postgres: statements }
