// Writes the keys of one account to storage, in order. One save runs at a time; all changes meanwhile form the next save.
//
// open   → saves while there is something to save, and repeats a failed save until it succeeds
// fenced → another process holds the account: nothing is written any more
// closed → after close(): unsaved writes are given up

import type { Hold, NodeHold } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { SessionKeyStore, SessionKeyWrite } from '../../storage/stores/accounts/session-key-store.ts'
import { isUnexpected } from '../../storage/stores/fence.ts'
import type { Statement } from '../../storage/engine/statement.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'save'>
  sessionId: string
  hold: Hold | NodeHold
  clock: Clock
  log: Log
  onSaved: (writes: readonly SessionKeyWrite[]) => void
  /** Called when another process holds the account, before the waiting writes are rejected. */
  onFenced: () => void
}

/** Statements that are stored in one commit with keys, and a callback for when they are stored. */
export type StepAddition = { statements: readonly Statement[]; onSaved: () => void }
type Batch = {
  writes: Map<string, SessionKeyWrite>
  additions: StepAddition[]
  durable: PromiseWithResolvers<undefined>
}

/** Between two questions to a storage that fails. */
export const storagePauses = { firstMs: 50, ceilingMs: 2_000 }

export class KeyWriter {
  readonly #deps: Deps
  readonly #ended = new AbortController()
  #next: Batch | undefined
  #underWay: Batch | undefined
  #running: Promise<void> | undefined
  #waitingSince = Infinity

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** When the save under way began, on the monotonic clock; Infinity when there is none. */
  get waitingSince(): number {
    return this.#waitingSince
  }

  /** Whether a write of this key has not reached storage yet. */
  isPending(name: string): boolean {
    return this.#next?.writes.has(name) === true || this.#underWay?.writes.has(name) === true
  }

  /** Resolves when the writes are on disk. A later write of the same key replaces one that still waits. */
  write(writes: ReadonlyMap<string, SessionKeyWrite>, additions: readonly StepAddition[] = []): Promise<undefined> {
    if (this.#ended.signal.aborted) return Promise.reject(closedError())
    this.#next ??= { writes: new Map(), additions: [], durable: Promise.withResolvers() }
    for (const [name, write] of writes) this.#next.writes.set(name, write)
    this.#next.additions.push(...additions)
    const { promise } = this.#next.durable
    // Some callers do not wait. Giving up must not become an unhandled rejection.
    promise.catch(ignoreRejection)
    this.#running ??= this.#run()
    return promise
  }

  /** Resolves when nothing is left to save, or nothing can be saved any more. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  close(): void {
    this.#ended.abort()
    this.#next?.durable.reject(closedError())
    this.#next = undefined
  }

  async #run(): Promise<void> {
    // A microtask later, so that changes which are made together are saved together.
    await Promise.resolve()
    for (let batch = this.#take(); batch; batch = this.#take()) {
      this.#waitingSince = this.#deps.clock.monotonic()
      const isSaved = await this.#save(batch)
      this.#waitingSince = Infinity
      this.#underWay = undefined
      if (!isSaved) {
        batch.durable.reject(closedError())
        break
      }
      this.#deps.onSaved([...batch.writes.values()])
      for (const addition of batch.additions) addition.onSaved()
      batch.durable.resolve(undefined)
    }
    this.#running = undefined
  }

  #take(): Batch | undefined {
    const batch = this.#next
    this.#next = undefined
    this.#underWay = batch
    return batch
  }

  /**
   * Returns false once the writer is closed. Transient failures are retried and never surfaced: the library would treat
   * them as bad keys.
   */
  async #save(batch: Batch): Promise<boolean> {
    const { keys, hold, sessionId, clock, log } = this.#deps
    const writes = [...batch.writes.values()]
    const statements = batch.additions.flatMap((addition) => addition.statements)
    let attempt = 0
    const onFailure = (err: unknown) => {
      // The fence is the only expectation of a save. Closing ends the repetition.
      if (isUnexpected(err)) this.#fence()
      else if (attempt === 0) log.warn({ session: sessionId, err }, 'session keys not saved, trying again')
      attempt++
    }
    const saved = await retryUntil({ clock, signal: this.#ended.signal, pauses: storagePauses, onFailure }, () =>
      keys.save(hold, sessionId, writes, statements),
    )
    if (saved && attempt > 0) log.info({ session: sessionId, attempt }, 'session keys saved again')
    return saved !== undefined
  }

  #fence(): void {
    this.#deps.log.error({ session: this.#deps.sessionId }, 'session keys belong to another process')
    this.#deps.onFenced()
    this.close()
  }
}

export function closedError(): Error {
  return new Error('the keys of this session are closed')
}
