// A connection of the test's own to the database of a service. On SQLite it runs in the thread of the test: the two threads of
// the service's engine take longer to start than most tests use their connection.

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseLocation } from '../../src/core/database-location.ts'
import { SecretBox } from '../../src/lib/secret-box.ts'
import { Database } from '../../src/storage/database.ts'
import { commitTogether } from '../../src/storage/engine/group-commit.ts'
import { SqliteConnection } from '../../src/storage/engine/sqlite-connection.ts'
import { describeSqliteFailure } from '../../src/storage/engine/sqlite-failure.ts'
import { migrateSqlite } from '../../src/storage/engine/sqlite-migrate.ts'
import { decodeResult } from '../../src/storage/engine/sqlite-protocol.ts'
import { StorageError } from '../../src/storage/engine/statement.ts'
import type { Engine, Row, StatementResult } from '../../src/storage/engine/statement.ts'
import { migrations } from '../../src/storage/migrations/all.ts'
import { openOwnDatabase } from './lease-holds.ts'

export async function openTestConnection(
  location: DatabaseLocation,
  encryptionKeys: readonly Uint8Array[] = [],
): Promise<Database> {
  if (location.engine === 'postgres') return openOwnDatabase(location, encryptionKeys, { isPassing: true })
  mkdirSync(dirname(location.path), { recursive: true, mode: 0o700 })
  const connection = new SqliteConnection(location.path, false, new SecretBox(encryptionKeys))
  migrateSqlite(connection.raw, migrations)
  return new Database('sqlite', engineOf(connection))
}

function engineOf(connection: SqliteConnection): Engine {
  return {
    async write(statements) {
      const [answer] = commitTogether(connection, [statements])
      if (Array.isArray(answer)) return Promise.resolve(answer.map((each) => plainResult(decodeResult(each))))
      throw new StorageError(answer?.failed.failure ?? 'failed', answer?.failed.message ?? 'no answer')
    },
    async read(statement, opens) {
      try {
        const { rows } = connection.run(statement)
        return await Promise.resolve(plain(opens ? connection.open(rows, opens) : rows))
      } catch (cause) {
        const { failure, message } = describeSqliteFailure(cause)
        throw new StorageError(failure, message, { cause })
      }
    },
    [Symbol.asyncDispose]: () => {
      connection.raw.close()
      return Promise.resolve()
    },
  }
}

/** Rows of SQLite have no prototype. The way between threads gives them one. */
function plain(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row }))
}

function plainResult({ rows, changes }: StatementResult): StatementResult {
  return { rows: plain(rows), changes }
}
