// Which node logs a session out: two nodes must not open it at the same time.

import type { Migration } from './migration.ts'

const statements = ['ALTER TABLE pending_logouts ADD COLUMN claimed_by TEXT']

export const logoutClaims: Migration = {
  version: 35,
  name: 'logout claims',
  // An earlier build makes no claims: beside it a session may be opened twice, as before.
  besides: true,
  sqlite: statements,
  postgres: statements,
}
