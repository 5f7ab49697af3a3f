// Helpdesk inboxes by their identifier, and the places where they were found.

import type { Migration } from './migration.ts'

const tables = [
  `CREATE TABLE destinations (
    key TEXT PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE
  )`,
  `CREATE TABLE destination_places (
    place TEXT PRIMARY KEY,
    key TEXT NOT NULL
  )`,
]

export const destinations: Migration = {
  version: 10,
  name: 'destinations',
  besides: true,
  sqlite: tables,
  postgres: tables,
}
