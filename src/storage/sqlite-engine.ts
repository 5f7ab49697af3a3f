// Embedded SQLite: one writer thread with group commit and one reader thread, so the event loop never waits for a disk.

import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { isSecret } from './statement.ts'
import type { Engine, Row, Scalar, Secret, SecretColumns, Statement, StatementResult } from './statement.ts'
import { WorkerLane } from './worker-lane.ts'

export class SqliteEngine implements Engine {
  readonly #writer: WorkerLane
  readonly #reader: WorkerLane

  private constructor(writer: WorkerLane, reader: WorkerLane) {
    this.#writer = writer
    this.#reader = reader
  }

  static async open(path: string, encryptionKeys: readonly Uint8Array[]): Promise<SqliteEngine> {
    createPrivately(path)
    await using opening = new AsyncDisposableStack()
    // The writer migrates, so the reader opens a database that is there and current.
    const writer = opening.use(new WorkerLane({ role: 'writer', path, encryptionKeys }))
    await writer.opened()
    const reader = opening.use(new WorkerLane({ role: 'reader', path, encryptionKeys }))
    await reader.opened()
    opening.move()
    return new SqliteEngine(writer, reader)
  }

  write(statements: readonly Statement[]): Promise<StatementResult[]> {
    return this.#writer.run({ statements: statements.map(detach) })
  }

  async read(statement: Statement, opens?: SecretColumns): Promise<Row[]> {
    const statements = [detach(statement)]
    const [result] = await this.#reader.run(opens ? { statements, opens } : { statements })
    return result?.rows ?? []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]()
    await this.#writer[Symbol.asyncDispose]()
  }
}

/** Session keys and tokens live here: nobody but the owner reads the directory or the file. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function detach(statement: Statement): Statement {
  return { ...statement, parameters: statement.parameters.map(detachValue) }
}

// A small Buffer is a window on a shared pool, and cloning a window copies the whole pool to the worker.
function detachValue(value: Scalar | Secret): Scalar | Secret {
  if (value instanceof Uint8Array) return ownBytes(value)
  return isSecret(value) ? { seal: ownBytes(value.seal), place: value.place } : value
}

function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
