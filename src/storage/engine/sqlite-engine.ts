// Embedded SQLite: one writer thread with group commit and one reader thread, so the event loop never waits for a disk.

import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { ignoreRejection } from '../../lib/ignore.ts'
import { isSecret, StorageError } from './statement.ts'
import type { Engine, Row, Scalar, Secret, SecretColumns, Statement, StatementResult } from './statement.ts'
import { explainSqliteFailure } from './explain-sqlite.ts'
import { SqliteThread } from './sqlite-thread.ts'

type Options = { path: string; encryptionKeys: readonly Uint8Array[]; onFatal: (reason: Error) => void }

export class SqliteEngine implements Engine {
  readonly #writer: SqliteThread
  readonly #reader: SqliteThread
  /** The last write that may wait and is not committed yet. Those before it are committed with it or earlier. */
  #waiting: Promise<unknown> | undefined

  private constructor(writer: SqliteThread, reader: SqliteThread) {
    this.#writer = writer
    this.#reader = reader
  }

  static async open({ path, encryptionKeys, onFatal }: Options): Promise<SqliteEngine> {
    createPrivately(path)
    await using opening = new AsyncDisposableStack()
    // Both threads load their code side by side. The writer opens first and migrates, so the reader opens a database that is there
    // and current.
    const writer = opening.use(new SqliteThread({ role: 'writer', path, encryptionKeys }, onFatal))
    const reader = opening.use(new SqliteThread({ role: 'reader', path, encryptionKeys }, onFatal))
    await writer.open()
    await reader.open()
    opening.move()
    return new SqliteEngine(writer, reader)
  }

  async write(statements: readonly Statement[]): Promise<StatementResult[]> {
    return await this.#writer.run({ statements: statements.map(detach) })
  }

  async writeSoon(statements: readonly Statement[]): Promise<StatementResult[]> {
    const writing = this.#writer.run({ statements: statements.map(detach) }, true)
    this.#waiting = writing
    try {
      return await writing
    } finally {
      if (this.#waiting === writing) this.#waiting = undefined
    }
  }

  async read(statement: Statement, opens?: SecretColumns): Promise<Row[]> {
    const statements = [detach(statement)]
    if (this.#waiting) await this.#endWait()
    const [result] = await this.#reader.run(opens ? { statements, opens } : { statements })
    return result?.rows ?? []
  }

  async #endWait(): Promise<void> {
    this.#writer.sendNow()
    await this.#waiting?.catch(ignoreRejection)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Reads that were asked for may wait for it.
    await this.#endWait()
    await this.#reader[Symbol.asyncDispose]()
    await this.#writer[Symbol.asyncDispose]()
  }
}

/** The file holds session keys and tokens: only the owner may read it and its directory. */
function createPrivately(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  } catch (cause) {
    throw explainSqliteFailure(path, cause) ?? cause
  }
}

function detach(statement: Statement): Statement {
  if (statement.parameters.every(isDetached)) return statement
  return { ...statement, parameters: statement.parameters.map(detachValue) }
}

/** Most statements have only such values, and need no copy. */
function isDetached(value: Scalar | Secret): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

// A small Buffer is a window on a shared pool, and cloning a window copies the whole pool to the worker.
function detachValue(value: Scalar | Secret): Scalar | Secret {
  if (isDetached(value)) return value
  if (value instanceof Uint8Array) return ownBytes(value)
  if (isSecret(value))
    return typeof value.seal === 'string' ? value : { seal: ownBytes(value.seal), place: value.place }
  // Refused here, where only this caller suffers: the worker would fail the whole batch on it.
  throw new StorageError('failed', `a value of type ${typeof value} cannot be stored`)
}

function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
