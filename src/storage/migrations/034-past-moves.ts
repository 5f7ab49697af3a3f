// Which instance moved from which node to which, and why: for operators.

import type { Migration } from './migration.ts'

export const pastMoves: Migration = {
  version: 34,
  name: 'past moves',
  // Moves that an earlier build makes are missing in the list.
  besides: true,
  // SQLite has one process, so nothing moves.
  sqlite: [],
  postgres: [
    `CREATE TABLE past_moves (
      id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      instance TEXT NOT NULL,
      from_node TEXT,
      to_node TEXT,
      reason TEXT NOT NULL,
      at BIGINT NOT NULL
    )`,
    'CREATE INDEX past_moves_by_time ON past_moves (at)',
  ],
}
