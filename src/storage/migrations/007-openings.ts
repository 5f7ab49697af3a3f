// When the opening of a conversation began: after a crash the next process must not open a second one.

import type { Migration } from './migration.ts'

const statements = ['ALTER TABLE contacts ADD COLUMN opening_since BIGINT']

export const openings: Migration = {
  version: 7,
  name: 'openings',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
