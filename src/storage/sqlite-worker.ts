// The worker thread around one SQLite connection: a writer that commits batches together, or a read-only reader.

import { parentPort, workerData } from 'node:worker_threads'
import { SecretBox } from '../lib/secret-box.ts'
import { commitTogether } from './group-commit.ts'
import { migrations } from './migrations/all.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import { migrateSqlite } from './sqlite-migrate.ts'
import type { Batch, Job, JobAnswer, WorkerAnswer, WorkerOptions } from './sqlite-protocol.ts'

function main(port: NonNullable<typeof parentPort>, options: WorkerOptions): void {
  const answer = (message: WorkerAnswer) => {
    port.postMessage(message)
  }
  try {
    const isWriter = options.role === 'writer'
    const connection = new SqliteConnection(options.path, !isWriter, new SecretBox(options.encryptionKeys))
    if (isWriter) migrateSqlite(connection.raw, migrations)
    port.on('message', (batch: Batch) => {
      if (batch === 'close') {
        connection.raw.close()
        port.close()
        return
      }
      answer({ answers: isWriter ? commitTogether(connection, batch) : batch.map((job) => readOne(connection, job)) })
    })
    answer({ ready: true })
  } catch (cause) {
    answer({ cannotOpen: cause instanceof Error ? cause.message : String(cause) })
  }
}

function readOne(connection: SqliteConnection, { statements, opens }: Job): JobAnswer {
  try {
    const results = statements.map((statement) => connection.run(statement))
    if (!opens) return { results }
    return { results: results.map((result) => ({ ...result, rows: connection.open(result.rows, opens) })) }
  } catch (cause) {
    return { failed: describeSqliteFailure(cause) }
  }
}

if (parentPort) main(parentPort, workerData as WorkerOptions)
