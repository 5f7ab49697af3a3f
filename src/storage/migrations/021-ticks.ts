// What the phones report of a message that was sent, what the helpdesk was told of it, and when to tell the helpdesk.

import type { Migration } from './migration.ts'

const statements = [
  'ALTER TABLE message_map ADD COLUMN reported TEXT',
  'ALTER TABLE message_map ADD COLUMN reported_at BIGINT',
  'ALTER TABLE message_map ADD COLUMN ticked TEXT',
  'ALTER TABLE message_map ADD COLUMN tick_at BIGINT',
  'CREATE INDEX message_map_by_tick ON message_map (tick_at) WHERE tick_at IS NOT NULL',
]

export const ticks: Migration = { version: 21, name: 'ticks', besides: true, sqlite: statements, postgres: statements }
