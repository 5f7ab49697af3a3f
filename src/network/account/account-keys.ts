// The keys of one account: answered from memory, durable when a write resolves, one Signal step at a time.
//
// The lane belongs to the account, not to a connection: after a reconnect the work of the old one may still be running.

import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SessionKeyStore, SessionKeyWrite } from '../../storage/stores/accounts/session-key-store.ts'
import { KeyCache } from './key-cache.ts'
import type { CacheLimits } from './key-cache.ts'
import { decodeKey, encodeKey } from './key-codec.ts'
import { KeyWriter } from './key-writer.ts'
import type { StepAddition } from './key-writer.ts'
import { retryDelay } from './retry-delay.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load' | 'save'>
  sessionId: string
  /** Of the lease under which this memory was filled: a later lease needs a new memory. */
  epoch: number
  clock: Clock
  log: Log
  limits?: CacheLimits
  onFenced: () => void
}

/** Values by kind and id; null or undefined removes. */
export type KeyChanges = Record<string, Record<string, unknown> | undefined>
type Writes = Map<string, SessionKeyWrite>
type Step = { writes: Writes; riders: StepAddition[] }
/** Keys written while storage was asked for them: its answer is too old. */
type Read = { overtaken: Set<string> }

const defaultLimits: CacheLimits = { entries: 2_000, bytes: 2_000_000 }

export class AccountKeys {
  readonly #deps: Deps
  readonly #cache: KeyCache
  readonly #writer: KeyWriter
  readonly #closed = new AbortController()
  readonly #reads = new Set<Read>()
  #lane: Promise<unknown> = Promise.resolve()
  #step: Step | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#writer = new KeyWriter({
      ...deps,
      onSaved: (writes) => {
        for (const { kind, id } of writes) this.#cache.saved(kind, nameOf(kind, id))
      },
      onFenced: () => {
        deps.onFenced()
        this.#closed.abort()
      },
    })
    this.#cache = new KeyCache({
      limits: deps.limits ?? defaultLimits,
      isUnsaved: (name) => this.#writer.holds(name),
    })
  }

  get epoch(): number {
    return this.#deps.epoch
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  get remembered(): { entries: number; bytes: number } {
    return { entries: this.#cache.size, bytes: this.#cache.bytes }
  }

  async get(kind: string, ids: readonly string[]): Promise<Record<string, unknown>> {
    const loaded = await this.#loadMissing(kind, ids)
    const found: Record<string, unknown> = {}
    for (const id of ids) {
      const known = this.#cache.get(nameOf(kind, id))
      const bytes = known === undefined ? loaded.get(id) : known
      if (bytes) found[id] = decodeKey(kind, bytes)
    }
    return found
  }

  /** Memory changes at once; resolves when the change is on disk. */
  set(changes: KeyChanges): Promise<undefined> {
    return this.#put(writesOf(changes))
  }

  /** Stored in its turn, after everything that was written before. */
  store(rider: StepAddition): Promise<undefined> {
    return this.#put(new Map(), [rider])
  }

  /** Runs one Signal operation alone; what it stored becomes visible and durable together, or not at all. */
  async runStep<Result>(work: () => Promise<Result>): Promise<Result> {
    const { result, durable } = await this.#inTurn(work)
    await durable
    return result
  }

  /** Without waiting for the disk: for what may be lost until something is built on it, which is written after it. */
  async runStepUnsynced<Result>(work: () => Promise<Result>): Promise<Result> {
    return (await this.#inTurn(work)).result
  }

  /** Like get, with what the step under way has changed. */
  async getInStep(kind: string, ids: readonly string[]): Promise<Record<string, unknown>> {
    const step = this.#step?.writes
    if (!step || step.size === 0) return this.get(kind, ids)
    const found = await this.get(
      kind,
      ids.filter((id) => !step.has(nameOf(kind, id))),
    )
    for (const id of ids) {
      const bytes = step.get(nameOf(kind, id))?.value
      if (bytes) found[id] = decodeKey(kind, bytes)
    }
    return found
  }

  /** Part of the step under way, or an operation of its own when there is none. */
  async setInStep(changes: KeyChanges): Promise<void> {
    const step = this.#step
    if (!step) await this.set(changes)
    else for (const [name, write] of writesOf(changes)) step.writes.set(name, write)
  }

  /** Stored with what the step under way changes, or not at all. */
  addToStep(rider: StepAddition): void {
    this.#step?.riders.push(rider)
  }

  /** Whatever the step under way has changed so far is not kept. */
  discardStep(): void {
    this.#step?.writes.clear()
  }

  /** Asks storage until it answers. */
  async waitOut<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (let attempt = 0; !this.isClosed; attempt++) {
      const answer = await this.#attempt(ask, attempt)
      if (answer) return answer.result
    }
    throw new Error('the keys of this session are closed')
  }

  settled(): Promise<void> {
    return this.#writer.settled()
  }

  /** Whatever waits or comes later rejects; the connection must be closed before. */
  close(): void {
    this.#closed.abort()
    this.#writer.close()
  }

  #inTurn<Result>(work: () => Promise<Result>) {
    const turn = this.#lane.then(() => this.#runStep(work))
    this.#lane = turn.catch(() => undefined)
    return turn
  }

  async #runStep<Result>(work: () => Promise<Result>) {
    const step: Step = { writes: new Map(), riders: [] }
    this.#step = step
    try {
      const result = await work()
      const isEmpty = step.writes.size === 0 && step.riders.length === 0
      return { result, durable: isEmpty ? undefined : this.#put(step.writes, step.riders) }
    } finally {
      this.#step = undefined
    }
  }

  #put(writes: Writes, riders: readonly StepAddition[] = []): Promise<undefined> {
    if (this.isClosed) return Promise.reject(new Error('the keys of this session are closed'))
    const durable = this.#writer.write(writes, riders)
    for (const [name, { value }] of writes) {
      for (const read of this.#reads) read.overtaken.add(name)
      this.#cache.put(name, value)
    }
    return durable
  }

  /** What memory does not know. A write that comes meanwhile wins; storage being away is waited out. */
  async #loadMissing(kind: string, ids: readonly string[]): Promise<Map<string, Uint8Array | null>> {
    const loaded = new Map<string, Uint8Array | null>()
    for (let attempt = 0; !this.isClosed; attempt++) {
      const missing = ids.filter((id) => !loaded.has(id) && this.#cache.get(nameOf(kind, id)) === undefined)
      if (missing.length === 0) return loaded
      const read: Read = { overtaken: new Set() }
      this.#reads.add(read)
      const { keys, sessionId } = this.#deps
      const answer = await this.#attempt(() => keys.load(sessionId, kind, missing), attempt)
      this.#reads.delete(read)
      if (!answer) continue
      const rows = new Map(answer.result.map(({ id, value }) => [id, value]))
      for (const id of missing) {
        if (read.overtaken.has(nameOf(kind, id))) continue
        const value = rows.get(id) ?? null
        loaded.set(id, value)
        this.#cache.remember(kind, nameOf(kind, id), value)
      }
    }
    throw new Error('the keys of this session are closed')
  }

  /** Undefined, after a pause, when storage did not answer. */
  async #attempt<Result>(ask: () => Promise<Result>, attempt: number): Promise<{ result: Result } | undefined> {
    const { sessionId, clock, log } = this.#deps
    try {
      return { result: await ask() }
    } catch (cause) {
      if (attempt === 0) log.warn({ session: sessionId, err: cause }, 'session keys not read, trying again')
      await sleep(clock, retryDelay(attempt), this.#closed.signal)
      return undefined
    }
  }
}

function nameOf(kind: string, id: string): string {
  return `${kind} ${id}`
}

function writesOf(changes: KeyChanges): Writes {
  const writes: Writes = new Map()
  for (const [kind, values] of Object.entries(changes)) {
    for (const [id, value] of Object.entries(values ?? {})) {
      writes.set(nameOf(kind, id), { kind, id, value: value == null ? null : encodeKey(kind, value) })
    }
  }
  return writes
}
