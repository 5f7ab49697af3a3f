// Runs a batch of operations in one transaction: they wait for the disk once, and one that fails does not undo the others.

import type { JobAnswer } from './sqlite-protocol.ts'
import { encodeResult } from './sqlite-protocol.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import type { Statement, StatementResult } from './statement.ts'
import { StorageError } from './statement.ts'

type Run = (connection: SqliteConnection, statements: readonly Statement[]) => JobAnswer

/**
 * Savepoints cost as much as the statements between them, and few operations fail. So a batch runs without them first. If an
 * operation fails, nothing of the batch is stored yet, and the batch runs again with a savepoint for each operation.
 */
export function commitTogether(connection: SqliteConnection, batch: readonly (readonly Statement[])[]): JobAnswer[] {
  const failed = (cause: unknown) => {
    const answer = { failed: describeSqliteFailure(cause) }
    return batch.map(() => answer)
  }
  return commit(connection, batch, runAll, (first, isOfOperation) =>
    isOfOperation && batch.length > 1 ? commit(connection, batch, runJob, failed) : failed(first),
  )
}

/**
 * `onFailure` gets the first failure when everything is undone, and whether an operation failed. A full disk or an I/O error undoes
 * a whole batch, too.
 */
function commit(
  connection: SqliteConnection,
  batch: readonly (readonly Statement[])[],
  run: Run,
  onFailure: (cause: unknown, isOfOperation: boolean) => JobAnswer[],
): JobAnswer[] {
  let isRunning = false
  try {
    connection.control('BEGIN IMMEDIATE')
    isRunning = true
    const answers = batch.map((statements) => run(connection, statements))
    isRunning = false
    connection.control('COMMIT')
    return answers
  } catch (cause) {
    if (connection.raw.isTransaction) rollBack(connection, cause)
    return onFailure(cause, isRunning)
  }
}

/** A connection that cannot leave its transaction is useless: the worker ends, and the process with it. */
function rollBack({ raw }: SqliteConnection, cause: unknown): void {
  try {
    raw.exec('ROLLBACK')
  } catch {
    if (raw.isTransaction) throw new StorageError('unavailable', 'the transaction cannot be ended', { cause })
  }
}

function runJob(connection: SqliteConnection, statements: readonly Statement[]): JobAnswer {
  const { raw } = connection
  // A single statement is atomic by itself.
  const guarded = statements.length > 1 || statements.some(({ expect }) => expect !== undefined)
  if (guarded) connection.control('SAVEPOINT job')
  try {
    const results = runAll(connection, statements)
    if (guarded) connection.control('RELEASE job')
    return results
  } catch (cause) {
    // Some failures end the whole transaction by themselves; then the whole batch fails, not only this job.
    if (!raw.isTransaction) throw cause
    if (guarded) raw.exec('ROLLBACK TO job; RELEASE job')
    return { failed: describeSqliteFailure(cause) }
  }
}

/** Only the last statement answers with rows: those of the others, such as a fence, are not asked for. */
function runAll(connection: SqliteConnection, statements: readonly Statement[]) {
  const last = statements.length - 1
  return statements.map((statement, index) => {
    const result = runExpecting(connection, statement)
    return index === last ? encodeResult(result) : result.changes
  })
}

function runExpecting(connection: SqliteConnection, statement: Statement): StatementResult {
  const result = connection.run(statement)
  if (statement.expect !== undefined && statement.expect !== result.changes) {
    throw new StorageError('expectation', `expected ${statement.expect} rows, touched ${result.changes}`)
  }
  return result
}
