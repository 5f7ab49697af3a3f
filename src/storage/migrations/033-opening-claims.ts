// Which account opens a conversation with a contact: accounts of several processes may share the contact.

import type { Migration } from './migration.ts'

const statements = ['ALTER TABLE contacts ADD COLUMN opening_by TEXT']

export const openingClaims: Migration = {
  version: 33,
  name: 'opening claims',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
