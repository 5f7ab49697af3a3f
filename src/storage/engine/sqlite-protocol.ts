// The messages between the main thread and the SQLite workers: plain data, as little of it as possible.

import type { SqlDecoder, SqlEncoder, WireSql } from './sql-text-cache.ts'
import type { Row, Scalar, Secret, SecretColumns, Statement, StatementFailure, StatementResult } from './statement.ts'

export type WorkerRole = 'writer' | 'reader'

export type WorkerOptions = {
  role: WorkerRole
  path: string
  encryptionKeys: readonly Uint8Array[]
}

export type Job = { statements: readonly Statement[]; opens?: SecretColumns }

// Lists, because the names of properties would travel with every object.
type WireStatement = [sql: WireSql, parameters: readonly (Scalar | Secret)[], expect?: number]
export type WireJob = [statements: WireStatement[], opens?: SecretColumns]

/** One batch goes out at a time; its answers come back in the order of its jobs. */
export type Batch = WireJob[] | 'close'

/** Per statement its rows, or how many it touched when it returns none. */
export type JobAnswer = (Row[] | number)[] | { failed: StatementFailure }

/** `isExplained`: the reason is a sentence for a person. */
type CannotOpen = { cannotOpen: string; isExplained: boolean }

export type WorkerAnswer = { ready: true } | CannotOpen | JobAnswer[]

export function encodeJob({ statements, opens }: Job, numbers: SqlEncoder): WireJob {
  const wire = statements.map(({ sql, parameters, expect }): WireStatement => {
    return expect === undefined ? [numbers.encode(sql), parameters] : [numbers.encode(sql), parameters, expect]
  })
  return opens ? [wire, opens] : [wire]
}

export function decodeStatements([statements]: WireJob, texts: SqlDecoder): Statement[] {
  return statements.map(([sql, parameters, expect]) => {
    const statement = { sql: texts.decode(sql), parameters }
    return expect === undefined ? statement : { ...statement, expect }
  })
}

export function encodeResult({ rows, changes }: StatementResult): Row[] | number {
  return rows.length > 0 ? rows : changes
}

export function decodeResult(result: Row[] | number): StatementResult {
  return typeof result === 'number' ? { rows: [], changes: result } : { rows: result, changes: result.length }
}
