// Stores the changes of one record in order: one write at a time; changes that come meanwhile share the next write.
//
// A write that storage refuses is repeated until it succeeds: the record in memory is right, and storage follows it. The
// write may have been made and its answer lost, so what is stored along has a key or an id.

import { randomUUID } from 'node:crypto'
import type { AuditRecord } from '../core/audit.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import type { Announcement } from '../lifecycle/announcer.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import type { PendingLogout } from '../storage/stores/accounts/pending-logout-store.ts'

const pauses = { firstMs: 200, ceilingMs: 5000 }

type Deps = {
  hold: Hold
  instances: Pick<InstanceStore, 'update' | 'put'>
  clock: Clock
  log: Log
  /** Called with the events that are stored now. */
  onAnnounced: (announcements: readonly Announcement[]) => void
}

/** Stored in the same commit as a change. */
export type Companions = {
  audits?: readonly AuditRecord[]
  announcements?: readonly Announcement[]
  logouts?: readonly PendingLogout[]
}

type Pending = {
  /** The whole record, when the stored one may be missing. */
  whole?: InstanceRow
  changes: InstanceChanges
  audits: AuditRecord[]
  announcements: Announcement[]
  logouts: PendingLogout[]
  stored: PromiseWithResolvers<undefined>
}

export class RecordWriter {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #next: Pending | undefined
  #writing: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the change is stored; rejects only when the writer is closed first. */
  save(
    changes: InstanceChanges,
    { audits = [], announcements = [], logouts = [] }: Companions = {},
  ): Promise<undefined> {
    const next = this.#pending()
    Object.assign(next.changes, changes)
    next.audits.push(...audits.map((audit) => ({ ...audit, key: randomUUID() })))
    next.announcements.push(...announcements)
    next.logouts.push(...logouts)
    this.#writing ??= this.#writeAll()
    return next.stored.promise
  }

  /** Stores the whole record; the stored one may be missing. */
  saveWhole(row: InstanceRow): void {
    this.#pending().whole = { ...row }
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything saved so far is stored, or given up. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** From now on each write is tried once. */
  giveUp(): void {
    this.#stop.abort()
  }

  /** Waits for the write under way, and gives up writes that storage refuses. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.giveUp()
    await this.#writing
  }

  #pending(): Pending {
    if (!this.#next) {
      this.#next = { changes: {}, audits: [], announcements: [], logouts: [], stored: Promise.withResolvers() }
      // Most callers go on without waiting; those that wait see the failure themselves.
      this.#next.stored.promise.catch(ignoreRejection)
    }
    return this.#next
  }

  async #writeAll(): Promise<void> {
    // A microtask later, so that changes of one step are written together.
    await Promise.resolve()
    for (let pending = this.#next; pending; pending = this.#next) {
      this.#next = undefined
      await this.#write(pending)
    }
    // Without an await after the last check: a later change starts the loop again.
    this.#writing = undefined
  }

  async #write({ whole, changes, audits, announcements, logouts, stored }: Pending): Promise<void> {
    const { instances, hold, clock, onAnnounced } = this.#deps
    const along = { audits, logouts, deliveries: announcements.flatMap(({ deliveries }) => deliveries) }
    const write = () =>
      whole ? instances.put(hold, { ...whole, ...changes }, along) : instances.update(hold, changes, along)
    const retry = { clock, signal: this.#stop.signal, pauses, onFailure: this.#noteFailure.bind(this) }
    try {
      // After giveUp() there is one more attempt.
      if (!(await retryUntil(retry, write))) await write()
    } catch (error) {
      if (error instanceof NotHeldError) this.#end()
      else this.#logFailure(error)
      stored.reject(error)
      return
    }
    onAnnounced(announcements)
    stored.resolve(undefined)
  }

  /** A write that was refused because another process holds the instance is not repeated. */
  #noteFailure(err: unknown): void {
    if (err instanceof NotHeldError) throw err
    this.#logFailure(err)
  }

  #end(): void {
    const { hold, log } = this.#deps
    this.giveUp()
    log.info({ instance: hold.instance }, 'another process holds the instance, so its record is not stored from here')
  }

  #logFailure(err: unknown): void {
    this.#deps.log.error({ err, instance: this.#deps.hold.instance }, 'the record of an instance could not be stored')
  }
}
