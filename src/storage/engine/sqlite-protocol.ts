// The messages between the main thread and the SQLite workers: plain data, as little of it as possible.
//
// A batch is one flat list. Each list or object inside it would cost about as much as ten values, on either side.

import type { SqlDecoder, SqlEncoder, WireSql } from './sql-text-cache.ts'
import type { Row, Scalar, Secret, SecretColumns, Statement, StatementFailure, StatementResult } from './statement.ts'
import { isSecret } from './statement.ts'

export type WorkerRole = 'writer' | 'reader'

export type WorkerOptions = {
  role: WorkerRole
  path: string
  encryptionKeys: readonly Uint8Array[]
}

export type Job = { statements: readonly Statement[]; opens?: SecretColumns | undefined }

/** Stands before a secret and its place. No parameter is `true`. */
const secretFollows = true
type WireValue = WireSql | SecretColumns | Scalar | typeof secretFollows

/** One batch goes out at a time; its answers come back in the order of its jobs. */
export type WireBatch = WireValue[]
type Batch = WireBatch | 'close'
/** `open` comes first. */
export type WorkerMessage = 'open' | Batch

/** Per statement its rows, or how many it touched when it returns none. */
export type JobAnswer = (Row[] | number)[] | { failed: StatementFailure }

/** `isExplained`: the reason is a sentence for a person. */
type CannotOpen = { cannotOpen: string; isExplained: boolean }

export type WorkerAnswer = { ready: true } | CannotOpen | JobAnswer[]

/**
 * A job becomes the number of its statements, what to open, and its statements. A statement becomes its text, the number of rows
 * that it should touch, the number of its parameters, and its parameters.
 */
export function encodeBatch(jobs: readonly Job[], numbers: SqlEncoder): WireBatch {
  const wire: WireBatch = []
  for (const { statements, opens = null } of jobs) {
    wire.push(statements.length, opens)
    for (const { sql, parameters, expect = null } of statements) {
      wire.push(numbers.encode(sql), expect, parameters.length)
      for (const each of parameters) {
        if (isSecret(each)) wire.push(secretFollows, each.seal, each.place)
        else wire.push(each)
      }
    }
  }
  return wire
}

export function decodeBatch(wire: WireBatch, texts: SqlDecoder): Job[] {
  let at = 0
  const next = () => wire[at++]
  const parameter = (): Scalar | Secret => {
    const value = next()
    return value === secretFollows ? { seal: next() as Secret['seal'], place: next() as string } : (value as Scalar)
  }
  const statement = (): Statement => {
    const sql = texts.decode(next() as WireSql)
    const expect = next() as number | null
    const parameters = Array.from({ length: next() as number }, parameter)
    return expect === null ? { sql, parameters } : { sql, parameters, expect }
  }
  const jobs: Job[] = []
  while (at < wire.length) {
    const count = next() as number
    const opens = (next() as SecretColumns | null) ?? undefined
    jobs.push({ statements: Array.from({ length: count }, statement), opens })
  }
  return jobs
}

export function encodeResult({ rows, changes }: StatementResult): Row[] | number {
  return rows.length > 0 ? rows : changes
}

export function decodeResult(result: Row[] | number): StatementResult {
  return typeof result === 'number' ? { rows: [], changes: result } : { rows: result, changes: result.length }
}
