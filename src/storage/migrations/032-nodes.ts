// Several processes share one PostgreSQL: the nodes, which node holds which instance, and which instance is to move.

import type { Migration } from './migration.ts'

export const nodes: Migration = {
  version: 32,
  name: 'nodes',
  // An earlier build would act by the lease, beside the nodes.
  besides: false,
  // SQLite has one process, which the lease names.
  sqlite: [],
  postgres: [
    'CREATE SEQUENCE assignment_epoch',
    // Half of each page stays free, so that a beat is a new version of the row on the same page.
    `CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      address TEXT NOT NULL,
      build TEXT NOT NULL,
      protocol INT NOT NULL,
      settings_hash TEXT NOT NULL,
      state TEXT NOT NULL,
      beat BIGINT NOT NULL DEFAULT 0,
      capacity INT NOT NULL,
      last_words TEXT,
      joined_at BIGINT NOT NULL,
      ended_at BIGINT,
      is_buried INT NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)`,
    // Apart from nodes: a write to another node's row would make its beat wait.
    'CREATE TABLE node_versions (node TEXT PRIMARY KEY, version BIGINT NOT NULL)',
    // Without a foreign key: changes of the record must not lock the row.
    `CREATE TABLE assignments (
      instance TEXT PRIMARY KEY,
      node TEXT,
      epoch BIGINT NOT NULL,
      since BIGINT NOT NULL,
      crashes INT NOT NULL DEFAULT 0,
      crashed_at BIGINT,
      quarantined_at BIGINT
    )`,
    // With the instance: a beat finds out for each dead node whether it has any, and reads no other rows for that.
    'CREATE INDEX assignments_by_node ON assignments (node, instance)',
    'CREATE INDEX assignments_free ON assignments (instance) WHERE node IS NULL AND quarantined_at IS NULL',
    // Apart from assignments: a wish must not wait for the writes of a busy instance.
    `CREATE TABLE moves (
      instance TEXT PRIMARY KEY,
      from_node TEXT NOT NULL,
      to_node TEXT NOT NULL,
      asked_at BIGINT NOT NULL
    )`,
    'CREATE TABLE cluster (id INT PRIMARY KEY, settings BIGINT NOT NULL, protocol INT NOT NULL)',
    'INSERT INTO cluster (id, settings, protocol) VALUES (1, 0, 1)',
    `INSERT INTO assignments (instance, epoch, since)
     SELECT name, nextval('assignment_epoch'), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) FROM instances`,
  ],
}
