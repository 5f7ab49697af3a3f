// The worker thread around one SQLite connection: a writer that commits batches together, or a read-only reader.

import { parentPort, workerData } from 'node:worker_threads'
import { SecretBox } from '../../lib/secret-box.ts'
import { explainSqliteFailure } from './explain-sqlite.ts'
import { commitTogether } from './group-commit.ts'
import { migrations } from '../migrations/all.ts'
import { SqlDecoder } from './sql-text-cache.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import { migrateSqlite } from './sqlite-migrate.ts'
import { decodeStatements, encodeResult } from './sqlite-protocol.ts'
import type { Batch, JobAnswer, WireJob, WorkerAnswer, WorkerOptions } from './sqlite-protocol.ts'
import type { SecretColumns, Statement } from './statement.ts'

type Port = NonNullable<typeof parentPort>

function main(port: Port, options: WorkerOptions): void {
  const say = (message: WorkerAnswer) => {
    port.postMessage(message)
  }
  try {
    const connection = openConnection(options)
    const texts = new SqlDecoder()
    const answer = options.role === 'writer' ? writeBatch : readBatch
    port.on('message', (batch: Batch) => {
      if (batch === 'close') {
        connection.raw.close()
        port.close()
      } else {
        say(answer(connection, batch, texts))
      }
    })
    say({ ready: true })
  } catch (cause) {
    const explained = explainSqliteFailure(options.path, cause)
    const reason = explained ?? cause
    say({ cannotOpen: reason instanceof Error ? reason.message : String(reason), isExplained: explained !== undefined })
  }
}

function openConnection({ role, path, encryptionKeys }: WorkerOptions): SqliteConnection {
  const connection = new SqliteConnection(path, role === 'reader', new SecretBox(encryptionKeys))
  if (role === 'writer') migrateSqlite(connection.raw, migrations)
  return connection
}

function writeBatch(connection: SqliteConnection, batch: readonly WireJob[], texts: SqlDecoder): JobAnswer[] {
  return commitTogether(
    connection,
    batch.map((job) => decodeStatements(job, texts)),
  )
}

function readBatch(connection: SqliteConnection, batch: readonly WireJob[], texts: SqlDecoder): JobAnswer[] {
  return batch.map((job) => readOne(connection, decodeStatements(job, texts), job[1]))
}

function readOne(connection: SqliteConnection, statements: Statement[], opens: SecretColumns | undefined): JobAnswer {
  try {
    const results = statements.map((statement) => connection.run(statement))
    return opens ? results.map(({ rows }) => connection.open(rows, opens)) : results.map(encodeResult)
  } catch (cause) {
    return { failed: describeSqliteFailure(cause) }
  }
}

if (parentPort) main(parentPort, workerData as WorkerOptions)
