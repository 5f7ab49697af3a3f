// Notes for a database that comes from a backup: when the backup was made, and which received events may be at the helpdesk.

import type { Migration } from './migration.ts'

const statements = ['ALTER TABLE lease ADD COLUMN backup_at BIGINT', 'ALTER TABLE inbox ADD COLUMN posted_after BIGINT']

export const backups: Migration = {
  version: 20,
  name: 'backups',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
