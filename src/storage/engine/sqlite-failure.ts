// Names what went wrong in SQLite, as plain data that crosses the thread border.

import type { StatementFailure } from './statement.ts'
import { StorageError } from './statement.ts'

// Primary result codes: https://www.sqlite.org/rescode.html
const constraint = 19
const unavailable = new Set([5, 6, 10, 13, 14]) // busy, locked, I/O error, full, cannot open

export function describeSqliteFailure(cause: unknown): StatementFailure {
  if (cause instanceof StorageError) return { failure: cause.failure, message: cause.message }
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : 0
  if (code === constraint) return { failure: 'constraint', message }
  return { failure: unavailable.has(code) ? 'unavailable' : 'failed', message }
}
