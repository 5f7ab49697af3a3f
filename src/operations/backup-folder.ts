// The folder of the backups that the service makes itself: how the files are named, which are there, which may go.

import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { companions } from '../storage/backup/backup-file.ts'

export type Backup = { path: string; bytes: number; madeAt: number }

const stampForm = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-(\d{3})Z$/
/** What a backup is called until it is complete, and the files that SQLite keeps beside it. */
const unfinishedForm = new RegExp(`^\\.[0-9a-f]{8}\\.part(?:${companions.join('|')})?$`)

export class BackupFolder {
  readonly path: string
  readonly #prefix: string
  readonly #extension: string

  /** Beside the file of the database. */
  constructor(database: string) {
    this.path = join(dirname(database), 'backups')
    this.#extension = extname(database)
    this.#prefix = `${basename(database, this.#extension)}-`
  }

  /** The name of the file tells the time of the backup. */
  fileOf(madeAt: number): string {
    return join(this.path, this.#nameOf(madeAt))
  }

  /** The newest first. Files with other names are not ours. */
  async list(): Promise<Backup[]> {
    const found = await Promise.all((await this.#names()).map((name) => this.#read(name)))
    return found.flatMap((backup) => backup ?? []).sort((one, other) => other.madeAt - one.madeAt)
  }

  /** Removes the oldest backups, so that `most` stay. `newest` stays even if the clock was put back since the others. */
  async prune(newest: string, most: number): Promise<void> {
    const others = (await this.list()).filter(({ path }) => path !== newest)
    for (const { path } of others.slice(most - 1)) await rm(path, { force: true })
  }

  /** Removes what a backup left behind that did not come to its end, for example at a crash. */
  async removeUnfinished(): Promise<void> {
    for (const name of await this.#names()) {
      const end = name.indexOf(this.#extension + '.', this.#prefix.length)
      const isUnfinished = end >= 0 && unfinishedForm.test(name.slice(end + this.#extension.length))
      if (isUnfinished && this.#timeOf(name.slice(0, end + this.#extension.length)) !== undefined) {
        await rm(join(this.path, name), { force: true })
      }
    }
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  /** Undefined for a file that is no backup of ours, or that is gone by now. */
  async #read(name: string): Promise<Backup | undefined> {
    const madeAt = this.#timeOf(name)
    const path = join(this.path, name)
    const found = madeAt === undefined ? undefined : await stat(path).catch(() => undefined)
    return madeAt !== undefined && found?.isFile() ? { path, bytes: found.size, madeAt } : undefined
  }

  #nameOf(madeAt: number): string {
    return `${this.#prefix}${new Date(madeAt).toISOString().replace(/[:.]/g, '-')}${this.#extension}`
  }

  #timeOf(name: string): number | undefined {
    if (!name.startsWith(this.#prefix) || !name.endsWith(this.#extension)) return undefined
    const [, day, hour, minute, second, ms] =
      stampForm.exec(name.slice(this.#prefix.length, name.length - this.#extension.length)) ?? []
    const madeAt = Date.parse(`${day}T${hour}:${minute}:${second}.${ms}Z`)
    return Number.isNaN(madeAt) ? undefined : madeAt
  }
}
