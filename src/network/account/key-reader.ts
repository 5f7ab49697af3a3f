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

export class KeyReader {
  readonly #deps: Deps
  /** For each read under way, the keys that were written since it started. */
  readonly #overtaken = new Set<Set<string>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Loads the keys that are not in the cache. Null for a key that does not exist. */
  async loadMissing(kind: string, ids: readonly string[]): Promise<Values> {
    const { cache, closed } = this.#deps
    const loaded: Values = new Map()
    while (!closed.aborted) {
      const missing = ids.filter((id) => !loaded.has(id) && cache.get(keyName(kind, id)) === undefined)
      if (missing.length === 0) return loaded
      for (const [id, value] of await this.#load(kind, missing)) {
        loaded.set(id, value)
        cache.remember(kind, keyName(kind, id), value)
      }
    }
    throw closedError()
  }

  /** To be called when a key is written: for this key the answer of a read under way is too old. */
  noteWrite(name: string): void {
    for (const overtaken of this.#overtaken) overtaken.add(name)
  }

  /** Asks storage until it answers. */
  async askStorage<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { sessionId, clock, log, closed } = this.#deps
    const onFailure = (err: unknown, failures: number) => {
      if (failures === 0) log.warn({ session: sessionId, err }, 'session keys not read, trying again')
    }
    const answer = await retryUntil({ clock, signal: closed, pauses: storagePauses, onFailure }, ask)
    if (!answer) throw closedError()
    return answer.value
  }

  /** The stored values, without the keys that were written meanwhile. */
  async #load(kind: string, ids: readonly string[]): Promise<Values> {
    const { keys, sessionId } = this.#deps
    const overtaken = new Set<string>()
    this.#overtaken.add(overtaken)
    try {
      const stored = await this.askStorage(() => keys.load(sessionId, kind, ids))
      const values: Values = new Map(ids.map((id) => [id, null]))
      for (const { id, value } of stored) values.set(id, value)
      for (const id of ids) if (overtaken.has(keyName(kind, id))) values.delete(id)
      return values
    } finally {
      this.#overtaken.delete(overtaken)
    }
  }
}
