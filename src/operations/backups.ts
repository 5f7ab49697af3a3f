// The use cases behind the backup endpoints: copies of the embedded database beside it, of which the newest seven stay.
//
// resting → making    when a caller asks; further callers are refused
// making  → resting   when the backup is complete, or has failed

import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import type { AuditRecord } from '../core/audit.ts'
import type { DatabaseLocation } from '../core/database-location.ts'
import { BridgeError } from '../core/errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { thisUser } from '../lib/process/this-user.ts'
import { makeBackupInThread } from '../storage/backup/backup-thread.ts'
import { BackupFolder } from './backup-folder.ts'
import type { Backup } from './backup-folder.ts'

type Deps = {
  location: DatabaseLocation
  /** Free bytes on the disk of a directory. */
  freeBytes: (directory: string) => Promise<number>
  audit: (record: AuditRecord) => Promise<void>
  clock: Pick<Clock, 'now'>
  log: Log
}

const mostKept = 7
const megabyte = 1024 * 1024
/** The service itself must be able to go on writing. */
const reservedBytes = 128 * megabyte

export class Backups {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #making: { since: number; backup: Promise<Backup> } | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Since when a backup is being made; null while none is. */
  get makingSince(): number | null {
    return this.#making?.since ?? null
  }

  /** Those that the service made; none with PostgreSQL. */
  list(): Promise<Backup[]> {
    const { location } = this.#deps
    return location.engine === 'sqlite' ? new BackupFolder(location.path).list() : Promise.resolve([])
  }

  /** The backup is complete and checked when this resolves. */
  async make(actor: AuditRecord['actor']): Promise<Backup> {
    const { location } = this.#deps
    if (location.engine !== 'sqlite') {
      throw new BridgeError('SERVICE_NOT_EMBEDDED', 'the database is PostgreSQL: make the backup with pg_dump')
    }
    if (this.#making) {
      throw new BridgeError('SERVICE_BACKUP_RUNNING', 'a backup is being made: wait until it is complete')
    }
    const backup = this.#makeNow(location.path, actor)
    this.#making = { since: this.#deps.clock.now(), backup }
    try {
      return await backup
    } finally {
      this.#making = undefined
    }
  }

  /** A backup under way is given up, and what it wrote is removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#making?.backup.catch(() => undefined)
  }

  async #makeNow(database: string, actor: AuditRecord['actor']): Promise<Backup> {
    const { clock, audit, log } = this.#deps
    const folder = new BackupFolder(database)
    await this.#prepare(folder, database)
    const madeAt = freeTime(folder, clock.now())
    const path = folder.fileOf(madeAt)
    await audit({ at: madeAt, actor, action: 'backup.make', target: path })
    const bytes = await this.#copy(folder, { path: database, target: path, overwrite: false, now: madeAt })
    await folder.prune(path, mostKept).catch((err: unknown) => {
      log.warn({ err }, 'old backups could not be removed')
    })
    log.info({ path, bytes }, 'a backup was made')
    return { path, bytes, madeAt }
  }

  async #copy(folder: BackupFolder, options: Parameters<typeof makeBackupInThread>[0]): Promise<number> {
    try {
      return await makeBackupInThread(options, this.#stop.signal)
    } catch (cause) {
      await folder.removeUnfinished().catch(() => undefined)
      throw failed(cause instanceof Error ? cause.message : String(cause), cause)
    }
  }

  /** Refuses before anything is written. */
  async #prepare(folder: BackupFolder, database: string): Promise<void> {
    try {
      await mkdir(folder.path, { recursive: true, mode: 0o700 })
      await folder.removeUnfinished()
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
      throw failed(`${folder.path} cannot be written by ${thisUser()} (${code}): check the directory`, cause)
    }
    const needed = (await sizeOf(database)) + (await sizeOf(`${database}-wal`))
    const free = await this.#deps.freeBytes(folder.path)
    if (free < needed + reservedBytes) throw failed(noRoom(folder.path, free, needed))
  }
}

/** A name that no backup has: the clock may have been put back. */
function freeTime(folder: BackupFolder, now: number): number {
  let at = now
  while (existsSync(folder.fileOf(at))) at += 1
  return at
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}

function noRoom(directory: string, free: number, needed: number): string {
  const [has, needs] = [Math.floor(free / megabyte), Math.ceil((needed + reservedBytes) / megabyte)]
  return `the disk of ${directory} has ${has} MB free, and the backup needs ${needs} MB: make room, or use npm run backup with a file on another disk`
}

function failed(sentence: string, cause?: unknown): BridgeError {
  return new BridgeError('SERVICE_BACKUP_FAILED', sentence, { cause })
}
