// The secrets with which helpdesk inboxes sign their callbacks.

import type { Migration } from './migration.ts'

const table = (bytes: string) => [
  `CREATE TABLE webhook_secrets (
    destination TEXT PRIMARY KEY,
    sealed_for TEXT NOT NULL,
    secret ${bytes} NOT NULL
  )`,
]

export const webhookSecrets: Migration = {
  version: 19,
  name: 'webhook-secrets',
  besides: true,
  sqlite: table('BLOB'),
  postgres: table('BYTEA'),
}
