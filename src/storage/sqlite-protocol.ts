// What the main thread and the SQLite workers say to each other: plain data only.

import type { SecretColumns, Statement, StatementFailure, StatementResult } from './statement.ts'

export type WorkerRole = 'writer' | 'reader'

export type WorkerOptions = {
  role: WorkerRole
  path: string
  encryptionKeys: readonly Uint8Array[]
}

export type Job = { statements: readonly Statement[]; opens?: SecretColumns }

/** One batch goes out at a time; its answers come back in the order of its jobs. */
export type Batch = readonly Job[] | 'close'

export type JobAnswer = { results: StatementResult[] } | { failed: StatementFailure }

export type WorkerAnswer = { ready: true } | { cannotOpen: string } | { answers: JobAnswer[] }
