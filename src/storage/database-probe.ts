// Asks the database every second whether it answers. Health reads the result from memory, so it never waits for a query.

import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { Ticker } from '../lib/ticker.ts'
import type { Database } from './database.ts'

const everyMs = 1000
const deadlineMs = 2000

/** `ageMs` is the time since the last answer of the database. */
export type DatabaseState = { ok: boolean; latencyMs: number; ageMs: number }

type Deps = { database: Pick<Database, 'ping'>; clock: Clock; log: Log }

export class DatabaseProbe {
  readonly #deps: Deps
  readonly #ticker: Ticker
  #ok = true
  #latencyMs = 0
  #answeredAt: number

  /** For a database that has just been opened, so it has answered. */
  constructor(deps: Deps) {
    const { clock, log } = deps
    this.#deps = deps
    this.#answeredAt = clock.monotonic()
    this.#ticker = new Ticker({ name: 'database-probe', everyMs, work: () => this.#ask(), clock, log })
  }

  start(): void {
    this.#ticker.start()
  }

  get state(): DatabaseState {
    const ageMs = Math.round(this.#deps.clock.monotonic() - this.#answeredAt)
    return { ok: this.#ok, latencyMs: this.#latencyMs, ageMs }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ticker[Symbol.asyncDispose]()
  }

  async #ask(): Promise<void> {
    const { database, clock } = this.#deps
    const askedAt = clock.monotonic()
    this.#ok = await database.ping(clock, deadlineMs).then(
      () => true,
      () => false,
    )
    const now = clock.monotonic()
    this.#latencyMs = Math.round(now - askedAt)
    if (this.#ok) this.#answeredAt = now
  }
}
