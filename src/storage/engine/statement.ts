// The language of the engines: compiled statements with plain values, and their results.

import type { Compilable, CompiledQuery } from 'kysely'

export type Scalar = string | number | null | Uint8Array

/**
 * A value that the engine encrypts just before it stores it. A text is stored as its bytes: it travels faster to another thread.
 * `place` names the table, row and column it belongs to.
 */
export type Secret = { seal: Uint8Array | string; place: string }

export type Row = Record<string, Scalar>

export type Statement = {
  sql: string
  parameters: readonly (Scalar | Secret)[]
  /** The operation is undone and refused when the statement touches another number of rows. */
  expect?: number
  /** Checks the right to the rows of one instance. Such writes may share a commit with those of other instances. */
  isFence?: true
  /** PostgreSQL plans it once on each connection. Only for a statement that is an operation by itself. */
  isPlannedOnce?: true
}

export type StatementResult = { rows: Row[]; changes: number }

/** Which columns of a table are sealed, and which columns name the row they are sealed to. */
export type SecretColumns = { table: string; key: readonly string[]; columns: readonly string[] }

export type Engine = {
  /** All statements or none. Resolves when the result is on disk. Only the last statement is sure to answer with its rows. */
  write(statements: readonly Statement[]): Promise<StatementResult[]>
  /**
   * Like write, and may wait a moment for other writes, which then share its commit. A read of this process that is asked for
   * meanwhile sees it. Undefined where writes share no commit.
   */
  writeSoon?(statements: readonly Statement[]): Promise<StatementResult[]>
  /** Sees everything that was committed before the call. */
  read(statement: Statement, opens?: SecretColumns): Promise<Row[]>
  [Symbol.asyncDispose](): Promise<void>
}

/** unavailable: the outcome is unknown. undone: the database undid the operation, which may succeed another time. */
export type StorageFailure = 'expectation' | 'constraint' | 'unavailable' | 'undone' | 'failed'

/** A failure as plain data, for the way between threads. */
export type StatementFailure = { failure: StorageFailure; message: string }

export class StorageError extends Error {
  readonly failure: StorageFailure

  constructor(failure: StorageFailure, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.name = 'StorageError'
    this.failure = failure
  }
}

export function toStatement(query: Compilable | CompiledQuery, expect?: number): Statement {
  const { sql, parameters } = 'compile' in query ? query.compile() : query
  const statement = { sql, parameters: parameters as Statement['parameters'] }
  return expect === undefined ? statement : { ...statement, expect }
}

/** Names one stored value, so that a sealed value copied elsewhere does not open there. */
export function placeOf(table: string, key: readonly Scalar[], column: string): string {
  return [table, ...key.map(String), column].map((part) => encodeURIComponent(part)).join('|')
}

export function isSecret(parameter: Scalar | Secret): parameter is Secret {
  return parameter !== null && typeof parameter === 'object' && 'seal' in parameter
}
