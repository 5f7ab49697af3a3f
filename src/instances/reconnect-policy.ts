// How long to wait before the next attempt, by how the last connection ended.

import type { Closing } from '../core/network.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'

const minute = 60_000
const hour = 60 * minute

type Deps = { clock: Clock; random: () => number }

export class ReconnectPolicy {
  readonly #deps: Deps
  #failures = 0
  #failingSince: number | undefined
  #loggedInAt: number | undefined
  #replacedAt: number | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get failures(): number {
    return this.#failures
  }

  loggedIn(): void {
    this.#loggedInAt = this.#deps.clock.monotonic()
  }

  /** A connection that held for a minute wipes the slate; one that broke at once does not. */
  ended(): void {
    const held = this.#loggedInAt !== undefined && this.#deps.clock.monotonic() - this.#loggedInAt >= minute
    if (held) this.forgive()
    this.#loggedInAt = undefined
  }

  /** Somebody asked to start over: what happened before no longer counts. */
  forgive(): void {
    this.#failures = 0
    this.#failingSince = undefined
    this.#replacedAt = undefined
  }

  /** Milliseconds, or null: not before somebody asks. */
  pauseAfter({ cause, until }: Closing): number | null {
    const { clock } = this.#deps
    switch (cause) {
      case 'restart':
        return 0
      case 'replaced':
        return this.#pauseAfterReplaced()
      case 'temporary_ban':
        return Math.max(minute, until === undefined ? hour : until - clock.now())
      case 'client_refused':
        return 15 * minute
      case 'transient':
      case 'pairing_over':
      case 'invalidated':
      case 'banned':
        return this.#pauseAfterFailure()
    }
  }

  // Two clients that reconnect at once throw each other out for ever: one try, then a person decides.
  #pauseAfterReplaced(): number | null {
    const now = this.#deps.clock.monotonic()
    const again = this.#replacedAt !== undefined && now - this.#replacedAt < 10 * minute
    this.#replacedAt = now
    return again ? null : minute
  }

  #pauseAfterFailure(): number {
    const now = this.#deps.clock.monotonic()
    this.#failingSince ??= now
    const ceilingMs = now - this.#failingSince >= hour ? 5 * minute : minute
    return backoffMs(this.#failures++, { firstMs: 1000, ceilingMs, random: this.#deps.random })
  }
}
