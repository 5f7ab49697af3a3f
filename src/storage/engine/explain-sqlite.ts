// Explains why the file of SQLite cannot be opened: one sentence with the setting and the cure.

import { dirname } from 'node:path'
import { StartError } from '../../lib/start-error.ts'
import { thisUser } from '../../lib/process/this-user.ts'

type Explain = (path: string, where: string) => string

const isFull: Explain = () => 'the disk is full: free some space'
const isForbidden: Explain = (_path, where) =>
  `${thisUser()} may not write ${where}: give that user the right to write there, or name another file`
const isNoDirectory: Explain = (path) => `a part of ${dirname(path)} is a file: name a path through directories`
const isLocked: Explain = () => 'another process keeps the database locked: end that process'

/** By the code of the system, for the file itself. */
const systemCodes: Record<string, Explain> = {
  EACCES: isForbidden,
  EPERM: isForbidden,
  EROFS: (_path, where) => `${where} is on a read-only file system: mount it for writing, or name another file`,
  EISDIR: (path) => `this is a directory: name a file in it, for example file:${path}/service.db`,
  ENOTDIR: isNoDirectory,
  EEXIST: isNoDirectory,
  ENOSPC: isFull,
  EDQUOT: isFull,
}

/** By the primary result code of SQLite: https://www.sqlite.org/rescode.html */
const resultCodes: Record<number, Explain> = {
  5: isLocked,
  6: isLocked,
  8: mayNotWriteBeside,
  10: () => 'SQLite cannot read or write the file: check the disk, and use no network file system',
  11: () => 'the database is damaged: restore a backup',
  13: isFull,
  14: mayNotWriteBeside,
  26: () => 'the file is no SQLite database: name another file, or move this one away',
}

/** SQLite keeps files of its own beside the database. The database file itself was opened for writing before. */
function mayNotWriteBeside(path: string): string {
  const places = `${dirname(path)}, ${path}-wal or ${path}-shm`
  return `${thisUser()} may not write ${places}: give that user the right to write all of them`
}

/** Undefined when the failure has no sentence. */
export function explainSqliteFailure(path: string, cause: unknown): StartError | undefined {
  if (cause instanceof StartError) return cause
  if (!(cause instanceof Error)) return undefined
  const sentence = 'errcode' in cause ? explainResult(path, Number(cause.errcode) & 0xff) : explainSystem(path, cause)
  return sentence === undefined ? undefined : new StartError(`DATABASE_URL=file:${path}: ${sentence}`, { cause })
}

function explainResult(path: string, code: number): string | undefined {
  return resultCodes[code]?.(path, path)
}

function explainSystem(path: string, { code, syscall, path: where = path }: NodeJS.ErrnoException): string | undefined {
  if (code === undefined || syscall === undefined) return undefined
  // Only the owner of a file may change its rights, also if others may write the file.
  if (code === 'EPERM' && syscall === 'chmod') {
    return `the file holds secrets and belongs to another user: make ${thisUser()} its owner`
  }
  return systemCodes[code]?.(path, where) ?? `${where} cannot be opened (${code}): name another file`
}
