// Which owner of the accounts last took over the rows of earlier builds.

import type { Migration } from './migration.ts'

const statements = ['ALTER TABLE lease ADD COLUMN taken_over_epoch BIGINT']

export const takeovers: Migration = {
  version: 14,
  name: 'takeovers',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
