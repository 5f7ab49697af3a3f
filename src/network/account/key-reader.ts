// Reads the keys of one account from storage into memory. A write that comes during a read wins over the stored value.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { SessionKeyStore } from '../../storage/stores/accounts/session-key-store.ts'
import { keyName } from './key-cache.ts'
import type { KeyCache } from './key-cache.ts'
import { closedError, storagePauses } from './key-writer.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load'>
  sessionId: string
  cache: KeyCache
  clock: Clock
  log: Log
  closed: AbortSignal
}
type Values = Map<string, Uint8Array | null>

const nothing: ReadonlyMap<string, null> = new Map()

export class KeyReader {
  readonly #deps: Deps
  /** For each read under way, the keys that were written since storage was asked. */
  readonly #reads = new Set<Set<string>>()
  /** When each question under way was asked, oldest first. */
  readonly #questions = new Map<symbol, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** When the oldest question under way was asked, on the monotonic clock; Infinity when there is none. */
  get waitingSince(): number {
    return this.#questions.values().next().value ?? Infinity
  }

  /** The values from the cache, and from storage where the cache does not know. Null for a key that does not exist. */
  async read(kind: string, ids: readonly string[]): Promise<Values> {
    const remembered = this.#collect(kind, ids, nothing)
    if (remembered.size === ids.length && !this.#deps.closed.aborted) return remembered
    const loaded: Values = new Map()
    const written = new Set<string>()
    this.#reads.add(written)
    try {
      while (!this.#deps.closed.aborted) {
        // The cache may have dropped a value that was written meanwhile, so such a key is asked for again.
        for (const id of ids) if (written.has(keyName(kind, id))) loaded.delete(id)
        written.clear()
        const values = this.#collect(kind, ids, loaded)
        const missing = ids.filter((id) => !values.has(id))
        if (missing.length === 0) return values
        for (const [id, value] of await this.#load(kind, missing)) {
          const name = keyName(kind, id)
          if (written.has(name)) continue
          loaded.set(id, value)
          this.#deps.cache.remember(kind, name, value)
        }
      }
      throw closedError()
    } finally {
      this.#reads.delete(written)
    }
  }

  /** To be called when a key is written: for this key the answer of a read under way is too old. */
  noteWrite(name: string): void {
    for (const written of this.#reads) written.add(name)
  }

  /** Asks storage until it answers. */
  async askStorage<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { sessionId, clock, log, closed } = this.#deps
    const onFailure = (err: unknown, failures: number) => {
      if (failures === 0) log.warn({ session: sessionId, err }, 'session keys not read, trying again')
    }
    const question = Symbol('question')
    this.#questions.set(question, clock.monotonic())
    try {
      const answer = await retryUntil({ clock, signal: closed, pauses: storagePauses, onFailure }, ask)
      if (!answer) throw closedError()
      return answer.value
    } finally {
      this.#questions.delete(question)
    }
  }

  #collect(kind: string, ids: readonly string[], loaded: ReadonlyMap<string, Uint8Array | null>): Values {
    const values: Values = new Map()
    for (const id of ids) {
      const cached = this.#deps.cache.get(keyName(kind, id))
      const value = cached === undefined ? loaded.get(id) : cached
      if (value !== undefined) values.set(id, value)
    }
    return values
  }

  async #load(kind: string, ids: readonly string[]): Promise<Values> {
    const { keys, sessionId } = this.#deps
    const stored = await this.askStorage(() => keys.load(sessionId, kind, ids))
    const values: Values = new Map(ids.map((id) => [id, null]))
    for (const { id, value } of stored) values.set(id, value)
    return values
  }
}
