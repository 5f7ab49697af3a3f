// Refuses to replace a database that a process uses.

import { DatabaseSync } from 'node:sqlite'
import { BackupError } from './backup-file.ts'

const busyTimeoutMs = 1000
// Primary result codes: https://www.sqlite.org/rescode.html
const [busy, readOnly, corrupt, cannotOpen, notADatabase] = [5, 8, 11, 14, 26]

type Options = { now: number; shownOwner: (owner: string) => string }

/**
 * A process that has the database open prevents that the journal mode changes. A process of another machine is known by its
 * lease. Afterwards everything is in one file, without a WAL.
 */
export function refuseUsedDatabase(path: string, { now, shownOwner }: Options): void {
  let owner = 'another process'
  try {
    using database = new DatabaseSync(path, { timeout: busyTimeoutMs })
    const lease = database.prepare("SELECT owner, expires_at FROM lease WHERE name = 'service'").get()
    if (lease) owner = shownOwner(String(lease['owner']))
    database.exec('PRAGMA journal_mode = DELETE')
    const seconds = Math.ceil((Number(lease?.['expires_at'] ?? 0) - now) / 1000)
    if (seconds > 0) {
      throw new BackupError(`the lease of ${owner} ends in ${seconds} s: stop the service, or try again after that`)
    }
  } catch (cause) {
    const code = codeOf(cause)
    if (code === busy) throw new BackupError(`${owner} uses the database: stop the service first`, { cause })
    if (code === readOnly || code === cannotOpen)
      throw new BackupError(`this user may not write ${path}: run this as the user of the service`, { cause })
    if (!isUnreadable(cause, code)) throw cause
  }
}

/** A damaged database, or a file that is no database of this service, is no reason to refuse a backup. */
function isUnreadable(cause: unknown, code: number): boolean {
  return code === corrupt || code === notADatabase || /no such (?:table|column)/.test(String(cause))
}

function codeOf(cause: unknown): number {
  return cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : 0
}
