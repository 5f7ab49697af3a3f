// What making and restoring a backup of the embedded database have in common: their errors, the check of a file, its name.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

/** The sentence says what to do. */
export class BackupError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'BackupError'
  }
}

/** The files that SQLite keeps beside a database. */
export const companions = ['-wal', '-shm', '-journal'] as const

/** Refuses a damaged file and a file that is no database of this service. */
export function checkDatabase(database: DatabaseSync, file: string): void {
  const foreign = (cause?: unknown) => new BackupError(`${file} is not a database of this service`, { cause })
  let problems: unknown[]
  try {
    problems = database.prepare('PRAGMA integrity_check(1)').all().flatMap(Object.values)
    if (!hasColumn(database, 'lease', 'epoch')) throw foreign()
  } catch (cause) {
    throw cause instanceof BackupError ? cause : foreign(cause)
  }
  if (problems[0] !== 'ok') throw new BackupError(`${file} is damaged (${String(problems[0])}): use another backup`)
}

/** Whether the database is so new that it has this column. */
export function hasColumn(database: DatabaseSync, table: string, column: string): boolean {
  return database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== undefined
}

/** The file is under its name, whole and on the disk, also after a power loss. */
export function putInPlace(temporary: string, file: string): void {
  syncToDisk(temporary)
  renameSync(temporary, file)
  // Windows has no directories that can be synced.
  if (process.platform !== 'win32') syncToDisk(dirname(file))
}

export function removeTemporary(temporary: string): void {
  for (const end of ['', ...companions]) rmSync(temporary + end, { force: true })
}

/** Whether both names lead to one file, also by a link. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }))
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
