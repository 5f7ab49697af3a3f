// The client version that the service introduces itself with, and a code beside the last error of an instance.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE client_version (
    name TEXT PRIMARY KEY,
    newest TEXT NOT NULL,
    worked TEXT,
    refused TEXT
  )`,
  'ALTER TABLE instances ADD COLUMN last_error_code TEXT',
]

export const clientVersion: Migration = {
  version: 18,
  name: 'client-version',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
