// The keys of one account: read from memory, durable when a write resolves, changed by one Signal step at a time.
//
// A step is like a transaction. What it changes becomes visible and durable together, or not at all. The lane of steps
// belongs to the account and not to a connection, because work of an old connection may still run after a reconnect.

import { hash } from 'node:crypto'
import type { Hold, NodeHold } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { Lane } from '../../lib/queues/lane.ts'
import type { Log } from '../../lib/log.ts'
import type { SessionKeyStore, SessionKeyWrite } from '../../storage/stores/accounts/session-key-store.ts'
import { KeyCache, keyName } from './key-cache.ts'
import type { CacheLimits } from './key-cache.ts'
import { decodeKey, encodeKey } from './key-codec.ts'
import { KeyReader } from './key-reader.ts'
import { closedError, KeyWriter } from './key-writer.ts'
import type { StepAddition } from './key-writer.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load' | 'save'>
  sessionId: string
  /** The hold under which this memory was filled. A later hold needs a new memory. */
  hold: Hold | NodeHold
  clock: Clock
  log: Log
  limits?: CacheLimits
  /** Another process holds the account now. */
  onFenced: () => void
}

/** Values by kind and id. Null or undefined removes a key. */
export type KeyChanges = Record<string, Record<string, unknown> | undefined>
type Writes = Map<string, SessionKeyWrite>
type Step = { writes: Writes; additions: StepAddition[] }
export type BegunStep<Result> = { result: Result; durable: Promise<undefined> | undefined }

/** Storage that works answers sooner. */
const storageAwayMs = 1000

const credsName = keyName('creds', 'creds')

const defaultLimits: CacheLimits = { entries: 2_000, bytes: 2_000_000 }

export class AccountKeys {
  readonly #deps: Deps
  readonly #cache: KeyCache
  readonly #writer: KeyWriter
  readonly #reader: KeyReader
  readonly #closed = new AbortController()
  readonly #lane = new Lane()
  #step: Step | undefined
  /** The last write of the credentials. */
  #lastCreds: { digest: string; durable: Promise<undefined> } | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#writer = new KeyWriter({
      ...deps,
      onSaved: (writes) => {
        for (const { kind, id } of writes) this.#cache.saved(kind, keyName(kind, id))
      },
      onFenced: () => {
        deps.onFenced()
        this.#closed.abort()
      },
    })
    this.#cache = new KeyCache({
      limits: deps.limits ?? defaultLimits,
      isUnsaved: (name) => this.#writer.isPending(name),
    })
    this.#reader = new KeyReader({ ...deps, cache: this.#cache, closed: this.#closed.signal })
  }

  get hold(): Hold | NodeHold {
    return this.#deps.hold
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  /** Whether storage has not answered a question or a write of this account for a while. */
  get isStorageAway(): boolean {
    const since = Math.min(this.#writer.waitingSince, this.#reader.waitingSince)
    return this.#deps.clock.monotonic() - since >= storageAwayMs
  }

  get remembered(): { entries: number; bytes: number } {
    return { entries: this.#cache.size, bytes: this.#cache.bytes }
  }

  async get(kind: string, ids: readonly string[]): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const [id, bytes] of await this.#reader.read(kind, ids)) if (bytes) found[id] = decodeKey(kind, bytes)
    return found
  }

  /** Changes memory at once. Resolves when the change is on disk. */
  set(changes: KeyChanges): Promise<undefined> {
    return this.#put(writesOf(changes))
  }

  /**
   * Resolves when the credentials are on disk. The library reports changes that change nothing, several at each login: a write
   * with the content of the last one is not repeated.
   */
  setCreds(creds: unknown): Promise<undefined> {
    const write = { kind: 'creds', id: 'creds', value: encodeKey('creds', creds) }
    const digest = hash('sha256', write.value, 'base64')
    if (digest === this.#lastCreds?.digest) return this.#lastCreds.durable
    const durable = this.#put(new Map([[credsName, write]]))
    this.#lastCreds = { digest, durable }
    return durable
  }

  /** The next credentials are written in any case. */
  forgetLastCreds(): void {
    this.#lastCreds = undefined
  }

  /** Stores the statements after everything that was written before. */
  store(addition: StepAddition): Promise<undefined> {
    return this.#put(new Map(), [addition])
  }

  /** Runs one Signal step alone. Resolves when everything that the step changed is on disk. */
  async runStep<Result>(work: () => Promise<Result>): Promise<Result> {
    const { result, durable } = await this.beginStep(work)
    await durable
    return result
  }

  /** Resolves when the step is in memory. `durable` resolves when everything that the step changed is on disk. */
  beginStep<Result>(work: () => Promise<Result>): Promise<BegunStep<Result>> {
    return this.#lane.run(() => this.#runStep(work))
  }

  /** Does not wait for the disk. Use it only for state that is worthless until a later, awaited write depends on it. */
  async runStepUnsynced<Result>(work: () => Promise<Result>): Promise<Result> {
    return (await this.beginStep(work)).result
  }

  /** Like get, but sees what the current step has changed. */
  async getInStep(kind: string, ids: readonly string[]): Promise<Record<string, unknown>> {
    const step = this.#step?.writes
    if (!step || step.size === 0) return await this.get(kind, ids)
    const found = await this.get(
      kind,
      ids.filter((id) => !step.has(keyName(kind, id))),
    )
    for (const id of ids) {
      const bytes = step.get(keyName(kind, id))?.value
      if (bytes) found[id] = decodeKey(kind, bytes)
    }
    return found
  }

  /** Adds the changes to the current step. Without a step they are a write of their own. */
  async setInStep(changes: KeyChanges): Promise<void> {
    const step = this.#step
    if (!step) await this.set(changes)
    else for (const [name, write] of writesOf(changes)) step.writes.set(name, write)
  }

  /** Stores the statements in one commit with the keys that the current step changes. */
  addToStep(addition: StepAddition): void {
    this.#step?.additions.push(addition)
  }

  /** Drops the keys that the current step has changed so far. */
  discardStep(): void {
    this.#step?.writes.clear()
  }

  /** Asks storage until it answers. */
  askStorage<Result>(ask: () => Promise<Result>): Promise<Result> {
    return this.#reader.askStorage(ask)
  }

  /** Resolves when every write has finished. */
  settled(): Promise<void> {
    return this.#writer.settled()
  }

  /** Rejects all waiting and later calls. The connection must be closed first. */
  close(): void {
    this.#closed.abort()
    this.#writer.close()
  }

  async #runStep<Result>(work: () => Promise<Result>): Promise<BegunStep<Result>> {
    const step: Step = { writes: new Map(), additions: [] }
    this.#step = step
    try {
      const result = await work()
      const isEmpty = step.writes.size === 0 && step.additions.length === 0
      return { result, durable: isEmpty ? undefined : this.#put(step.writes, step.additions) }
    } finally {
      this.#step = undefined
    }
  }

  #put(writes: Writes, additions: readonly StepAddition[] = []): Promise<undefined> {
    if (this.isClosed) return Promise.reject(closedError())
    if (writes.has(credsName)) this.#lastCreds = undefined
    const changes = this.#changesOf(writes)
    if (changes.size === 0 && writes.size > 0 && additions.length === 0) return Promise.resolve(undefined)
    const durable = this.#writer.write(changes, additions)
    for (const [name, { value }] of changes) {
      this.#reader.noteWrite(name)
      this.#cache.put(name, value)
    }
    return durable
  }

  /** Without the keys that are on disk as they are here. A key that is under way is written again. */
  #changesOf(writes: Writes): Writes {
    let changes = writes
    for (const [name, { value }] of writes) {
      if (this.#writer.isPending(name) || !isSameValue(this.#cache.get(name), value)) continue
      if (changes === writes) changes = new Map(writes)
      changes.delete(name)
    }
    return changes
  }
}

function isSameValue(known: Uint8Array | null | undefined, value: Uint8Array | null): boolean {
  if (!known || !value) return known === value
  return Buffer.compare(known, value) === 0
}

function writesOf(changes: KeyChanges): Writes {
  const writes: Writes = new Map()
  for (const [kind, values] of Object.entries(changes)) {
    for (const [id, value] of Object.entries(values ?? {})) {
      writes.set(keyName(kind, id), { kind, id, value: value == null ? null : encodeKey(kind, value) })
    }
  }
  return writes
}
