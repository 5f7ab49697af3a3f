// PostgreSQL checks itself how many rows a statement touched, so that a whole operation is one round trip.

import type { Migration } from './migration.ts'

export const expectedRows: Migration = {
  version: 31,
  name: 'expected rows',
  besides: true,
  // The worker of SQLite counts between two statements.
  sqlite: [],
  postgres: [
    `CREATE FUNCTION expect_rows(touched BIGINT, expected BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
     BEGIN
       IF touched <> expected THEN
         RAISE EXCEPTION 'expected % rows, touched %', expected, touched USING ERRCODE = 'CW001';
       END IF;
       RETURN true;
     END $$`,
  ],
}
