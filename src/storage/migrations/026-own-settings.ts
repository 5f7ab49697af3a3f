// The settings that an instance has of its own, as JSON by their names in the API.

import type { Migration } from './migration.ts'

const statements = ["ALTER TABLE instances ADD COLUMN own_settings TEXT NOT NULL DEFAULT '{}'"]

export const ownSettings: Migration = {
  version: 26,
  name: 'own-settings',
  besides: true,
  sqlite: statements,
  postgres: statements,
}
