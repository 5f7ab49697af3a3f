// Messages that an agent asked for again, until the helpdesk has been asked about them.

import type { Migration } from './migration.ts'

const statements = ["CREATE INDEX outbox_by_ask ON outbox (report_at) WHERE report = 'asked'"]

export const retries: Migration = {
  version: 8,
  name: 'retries',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
