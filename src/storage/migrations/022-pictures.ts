// What we know of the pictures of contacts at the helpdesk: which picture we uploaded, and when we last asked the network.

import type { Migration } from './migration.ts'

const statements = [
  `CREATE TABLE contact_pictures (
    destination TEXT NOT NULL,
    contact_id BIGINT NOT NULL,
    instance TEXT NOT NULL,
    picture_id TEXT,
    thumbnail TEXT,
    file_name TEXT,
    checked_at BIGINT NOT NULL,
    PRIMARY KEY (destination, contact_id)
  )`,
]

export const pictures: Migration = {
  version: 22,
  name: 'pictures',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
