// Stores the calls that the service rejects, and which of them are followed by a text to the customer.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE rejected_calls (
    instance TEXT NOT NULL,
    call_id TEXT NOT NULL,
    phone TEXT,
    lid TEXT,
    claimed_at BIGINT NOT NULL,
    rejected_at BIGINT,
    text_state TEXT,
    PRIMARY KEY (instance, call_id)
  )`,
  'CREATE INDEX rejected_calls_by_time ON rejected_calls (instance, rejected_at)',
  `CREATE INDEX rejected_calls_with_text_due ON rejected_calls (text_state, rejected_at) WHERE text_state = 'due'`,
  'CREATE INDEX rejected_calls_by_age ON rejected_calls (claimed_at)',
]

export const rejectedCalls: Migration = {
  version: 28,
  name: 'rejected calls',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
