// Runs a batch of operations in one transaction: they wait for the disk once, and one that fails does not undo the others.

import type { JobAnswer } from './sqlite-protocol.ts'
import { encodeResult } from './sqlite-protocol.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import type { Statement, StatementResult } from './statement.ts'
import { StorageError } from './statement.ts'

export function commitTogether(connection: SqliteConnection, batch: readonly (readonly Statement[])[]): JobAnswer[] {
  const { raw } = connection
  try {
    connection.control('BEGIN IMMEDIATE')
    const [alone, ...others] = batch
    const answers =
      alone && others.length === 0
        ? // The only operation of its transaction needs no savepoint.
          [runAll(connection, alone)]
        : batch.map((statements) => runJob(connection, statements))
    connection.control('COMMIT')
    return answers
  } catch (cause) {
    // A full disk or an I/O error undoes the whole batch: nothing of it is stored.
    if (raw.isTransaction) rollBack(connection, cause)
    const failed = describeSqliteFailure(cause)
    return batch.map(() => ({ failed }))
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

function runAll(connection: SqliteConnection, statements: readonly Statement[]) {
  return statements.map((statement) => encodeResult(runExpecting(connection, statement)))
}

function runExpecting(connection: SqliteConnection, statement: Statement): StatementResult {
  const result = connection.run(statement)
  if (statement.expect !== undefined && statement.expect !== result.changes) {
    throw new StorageError('expectation', `expected ${statement.expect} rows, touched ${result.changes}`)
  }
  return result
}
