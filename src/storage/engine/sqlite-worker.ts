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
import { decodeBatch, encodeResult } from './sqlite-protocol.ts'
import type { Job, JobAnswer, WorkerAnswer, WorkerMessage, WorkerOptions } from './sqlite-protocol.ts'

type Port = NonNullable<typeof parentPort>

function main(port: Port, options: WorkerOptions): void {
  const say = (message: WorkerAnswer) => {
    port.postMessage(message)
  }
  const texts = new SqlDecoder()
  const answer = options.role === 'writer' ? writeBatch : readBatch
  let connection: SqliteConnection | undefined
  port.on('message', (message: WorkerMessage) => {
    if (message === 'close') {
      connection?.raw.close()
      port.close()
    } else if (message === 'open') {
      connection = openOrSay(options, say)
      // Nothing follows.
      if (!connection) port.close()
    } else if (connection) {
      say(answer(connection, decodeBatch(message, texts)))
    }
  })
}

function openOrSay(options: WorkerOptions, say: (message: WorkerAnswer) => void): SqliteConnection | undefined {
  try {
    const connection = openConnection(options)
    say({ ready: true })
    return connection
  } catch (cause) {
    const explained = explainSqliteFailure(options.path, cause)
    const reason = explained ?? cause
    say({ cannotOpen: reason instanceof Error ? reason.message : String(reason), isExplained: explained !== undefined })
    return undefined
  }
}

function openConnection({ role, path, encryptionKeys }: WorkerOptions): SqliteConnection {
  const connection = new SqliteConnection(path, role === 'reader', new SecretBox(encryptionKeys))
  if (role === 'writer') migrateSqlite(connection.raw, migrations)
  return connection
}

function writeBatch(connection: SqliteConnection, jobs: readonly Job[]): JobAnswer[] {
  return commitTogether(
    connection,
    jobs.map(({ statements }) => statements),
  )
}

function readBatch(connection: SqliteConnection, jobs: readonly Job[]): JobAnswer[] {
  return jobs.map((job) => readOne(connection, job))
}

function readOne(connection: SqliteConnection, { statements, opens }: Job): JobAnswer {
  try {
    const results = statements.map((statement) => connection.run(statement))
    return opens ? results.map(({ rows }) => connection.open(rows, opens)) : results.map(encodeResult)
  } catch (cause) {
    return { failed: describeSqliteFailure(cause) }
  }
}

if (parentPort) main(parentPort, workerData as WorkerOptions)
