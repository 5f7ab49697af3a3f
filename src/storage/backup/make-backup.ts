// Copies the embedded database into one file while the service runs.
//
// The copy is made in one step: one read transaction sees one moment of the database, with everything that is committed in the
// WAL, and does not make the writer of the service wait. The copy notes the time, so that a process that starts with it knows
// that the service went on after that time (stores/restored-store.ts).

import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { BackupError, checkDatabase, hasColumn, isSameFile, putInPlace, removeTemporary } from './backup-file.ts'

// With fewer pages a step, each write of the service would begin the copy anew.
const allPages = 2 ** 31 - 1
const busyTimeoutMs = 5000

export type BackupOptions = {
  /** The file of the database. */
  path: string
  target: string
  overwrite: boolean
  now: number
}

/** Returns the size of the backup in bytes. The target appears only when it is complete. */
export async function makeBackup({ path, target, overwrite, now }: BackupOptions): Promise<number> {
  if (!existsSync(path)) throw new BackupError(`there is no database at ${path}: check DATABASE_URL`)
  if (isSameFile(path, target)) throw new BackupError(`${target} is the database itself: choose another file`)
  if (existsSync(target) && !overwrite) {
    throw new BackupError(`${target} exists: choose another name, or add --force to replace it`)
  }
  const temporary = `${target}.${randomBytes(4).toString('hex')}.part`
  try {
    createPrivately(temporary)
    await copy(path, temporary)
    finish(temporary, now)
    putInPlace(temporary, target)
  } finally {
    removeTemporary(temporary)
  }
  return statSync(target).size
}

/** The backup holds session keys and tokens. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
    throw new BackupError(`the backup cannot be written to ${file} (${code}): check the directory`, { cause })
  }
}

async function copy(path: string, temporary: string): Promise<void> {
  try {
    using source = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs })
    await backup(source, temporary, { rate: allPages })
  } catch (cause) {
    throw new BackupError(`${path} cannot be copied: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function finish(temporary: string, now: number): void {
  using database = new DatabaseSync(temporary)
  checkDatabase(database, 'the copy')
  // Without a WAL the backup is one file.
  database.exec('PRAGMA journal_mode = DELETE')
  // A database of an older build stays as it is: that build must be able to read the backup. Restoring it notes the time.
  if (!hasColumn(database, 'lease', 'backup_at')) return
  database.prepare('UPDATE lease SET backup_at = ?').run(now)
}
