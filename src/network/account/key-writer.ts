// Brings the keys of one account to storage, in order: one save under way, everything changed meanwhile forms the next.
//
// open   → saving while there is something to save; a save that fails is repeated until it succeeds
// fenced → when another process owns the account: nothing is written any more
// closed → by close(): what was not saved is given up

import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SessionKeyStore, SessionKeyWrite } from '../../storage/stores/accounts/session-key-store.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import type { Statement } from '../../storage/engine/statement.ts'
import { retryDelay } from './retry-delay.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'save'>
  sessionId: string
  epoch: number
  clock: Clock
  log: Log
  onSaved: (writes: readonly SessionKeyWrite[]) => void
  /** Called before anybody who waits hears of it. */
  onFenced: () => void
}

/** What is stored in one write with keys, and who is told when it is. */
export type StepAddition = { statements: readonly Statement[]; onSaved: () => void }
type Batch = { writes: Map<string, SessionKeyWrite>; riders: StepAddition[]; durable: PromiseWithResolvers<undefined> }

export class KeyWriter {
  readonly #deps: Deps
  readonly #ended = new AbortController()
  #next: Batch | undefined
  #underWay: Batch | undefined
  #running: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether a write of this key has not reached storage yet. */
  holds(name: string): boolean {
    return this.#next?.writes.has(name) === true || this.#underWay?.writes.has(name) === true
  }

  /** Resolves when the writes are on disk; a later write of the same key replaces one that waits. */
  write(writes: ReadonlyMap<string, SessionKeyWrite>, riders: readonly StepAddition[] = []): Promise<undefined> {
    if (this.#ended.signal.aborted) return Promise.reject(closedError())
    this.#next ??= { writes: new Map(), riders: [], durable: Promise.withResolvers() }
    for (const [name, write] of writes) this.#next.writes.set(name, write)
    this.#next.riders.push(...riders)
    const { promise } = this.#next.durable
    // Not everybody waits; giving up must not look like a forgotten failure.
    promise.catch(() => undefined)
    this.#running ??= this.#run()
    return promise
  }

  /** Resolves when nothing is left to save, or nothing can be saved any more. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  close(): void {
    this.#ended.abort()
    this.#giveUp()
  }

  async #run(): Promise<void> {
    // A microtask later, so that what is changed together is saved together.
    await Promise.resolve()
    for (let batch = this.#take(); batch; batch = this.#take()) {
      const saved = await this.#save(batch)
      this.#underWay = undefined
      if (!saved) {
        batch.durable.reject(closedError())
        break
      }
      this.#deps.onSaved([...batch.writes.values()])
      for (const rider of batch.riders) rider.onSaved()
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

  /** False when it is over; a failure that may pass is never told to anybody, for it would look like a wrong key. */
  async #save(batch: Batch): Promise<boolean> {
    const { keys, epoch, sessionId, clock, log } = this.#deps
    const { signal } = this.#ended
    const writes = [...batch.writes.values()]
    const more = batch.riders.flatMap(({ statements }) => statements)
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await keys.save(epoch, sessionId, writes, more)
        if (attempt > 0) log.info({ session: sessionId, attempt }, 'session keys saved again')
        return true
      } catch (cause) {
        if (cause instanceof StorageError && cause.failure === 'expectation') {
          this.#fence()
          return false
        }
        if (attempt === 0) log.warn({ session: sessionId, err: cause }, 'session keys not saved, trying again')
        await sleep(clock, retryDelay(attempt), signal)
      }
    }
    return false
  }

  #fence(): void {
    this.#deps.log.error({ session: this.#deps.sessionId }, 'session keys belong to another process')
    this.#deps.onFenced()
    this.close()
  }

  #giveUp(): void {
    this.#next?.durable.reject(closedError())
    this.#next = undefined
  }
}

function closedError(): Error {
  return new Error('the keys of this session are closed')
}
