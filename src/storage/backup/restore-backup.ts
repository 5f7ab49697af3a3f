// Puts a backup in the place of the embedded database. The database that was there is moved aside, never removed.

import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Log } from '../../lib/log.ts'
import { openDatabase } from '../database.ts'
import { BackupError, checkDatabase, companions, isSameFile, putInPlace, removeTemporary } from './backup-file.ts'
import { refuseUsedDatabase } from './refuse-used-database.ts'

type Options = {
  /** The file of the database. */
  path: string
  source: string
  /** The service has not run since the backup was made: what waits in the backup may be sent. */
  isCurrent: boolean
  now: number
  log: Log
  /** The name of an owner of the accounts as people read it. */
  shownOwner: (owner: string) => string
}

export type RestoredFile = { madeAt: number | null; movedTo: string | null }

export async function restoreBackup(options: Options): Promise<RestoredFile> {
  const { path, source } = options
  refuseSource(source, path)
  const isThere = existsSync(path)
  if (isThere) refuseUsedDatabase(path, options)
  const temporary = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    copyPrivately(source, temporary)
    const madeAt = await prepare(temporary, options)
    const movedTo = isThere ? moveAside(path, options.now) : null
    putInPlace(temporary, path)
    return { madeAt, movedTo }
  } finally {
    removeTemporary(temporary)
  }
}

function refuseSource(source: string, path: string): void {
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found?.isFile()) throw new BackupError(`there is no file ${source}`)
  if (isSameFile(source, path)) throw new BackupError(`${source} is the database itself: name a backup`)
  if ((statSync(`${source}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new BackupError(`${source} is in use, or a copy without its WAL: make a backup with npm run backup`)
  }
}

function copyPrivately(source: string, temporary: string): void {
  mkdirSync(dirname(temporary), { recursive: true, mode: 0o700 })
  copyFileSync(source, temporary)
  chmodSync(temporary, 0o600)
}

/** Checks the copy, brings it to the schema of this build, and notes whether the service went on after the backup. */
async function prepare(file: string, { source, isCurrent, now, log }: Options): Promise<number | null> {
  check(file, source)
  await using database = await openDatabase({ location: { engine: 'sqlite', path: file }, encryptionKeys: [], log })
  const { query } = database
  const [lease] = await database.read(query.selectFrom('lease').select(['expires_at', 'backup_at']))
  if (isCurrent && lease && lease.expires_at !== 0) {
    throw new BackupError(
      `the service was running when ${source} was made, so it went on after the backup: restore without --current`,
    )
  }
  const backup_at = isCurrent ? null : (lease?.backup_at ?? now)
  await database.write(query.updateTable('lease').set({ backup_at }))
  return lease?.backup_at ?? null
}

function check(file: string, source: string): void {
  using database = new DatabaseSync(file)
  checkDatabase(database, source)
}

/** Until the backup takes its place, the database also has its old name: at no moment is there no database. */
function moveAside(path: string, now: number): string {
  const movedTo = `${path}.before-${new Date(now).toISOString().replace(/[:.]/g, '-')}`
  if (existsSync(movedTo)) throw new BackupError(`${movedTo} exists: try again`)
  for (const end of companions) if (existsSync(path + end)) renameSync(path + end, movedTo + end)
  try {
    linkSync(path, movedTo)
  } catch {
    // Not every file system has links.
    renameSync(path, movedTo)
  }
  return movedTo
}
