// Decides how long to wait before the next attempt, by how the last connection ended.

import { longestBanMs, unknownBanMs } from '../core/instance.ts'
import type { Closing } from '../core/network/closing.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'

const minute = 60_000
const hour = 60 * minute
/** How often in a row a refused client may try again at once with another version. */
export const retriesAtOnce = 3

type Deps = { clock: Clock; random: () => number }

export class ReconnectPolicy {
  readonly #deps: Deps
  #failures = 0
  #failingSince: number | undefined
  #loggedInAt: number | undefined
  #replacedAt: number | undefined
  #restartedAt: number | undefined
  #failedSinceLogin = 0
  #retriedAtOnce = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** How many connections have ended by themselves since the last login. */
  get failedSinceLogin(): number {
    return this.#failedSinceLogin
  }

  loggedIn(): void {
    this.#failedSinceLogin = 0
    this.#retriedAtOnce = 0
    this.#loggedInAt = this.#deps.clock.monotonic()
  }

  /** A connection that held for a minute clears the failures before it; one that broke at once does not. */
  ended(): void {
    const held = this.#loggedInAt !== undefined && this.#deps.clock.monotonic() - this.#loggedInAt >= minute
    if (held) this.#forgetFailures()
    this.#loggedInAt = undefined
  }

  /** A caller asked to start over: earlier failures no longer count. */
  forgive(): void {
    this.#forgetFailures()
    this.#replacedAt = undefined
    this.#restartedAt = undefined
  }

  /** Milliseconds, or null: not before a caller asks. */
  pauseAfter({ cause, until, mayRetryNow }: Closing): number | null {
    const { clock } = this.#deps
    if (cause !== 'restart') this.#failedSinceLogin++
    switch (cause) {
      case 'restart':
        return this.#pauseAfterRestart()
      case 'replaced':
        return this.#pauseAfterReplaced()
      case 'temporary_ban':
        if (until === undefined) return unknownBanMs
        return Math.min(Math.max(minute, until - clock.now()), longestBanMs)
      case 'client_refused':
        return this.#pauseAfterRefusal(mayRetryNow ?? false)
      case 'transient':
      case 'pairing_over':
      case 'invalidated':
      case 'banned':
        return this.#pauseAfterFailure()
    }
  }

  #forgetFailures(): void {
    this.#failures = 0
    this.#failingSince = undefined
  }

  // A network that refuses every version and always names a newer one must not cause an endless loop.
  #pauseAfterRefusal(mayRetryNow: boolean): number {
    const isAtOnce = mayRetryNow && this.#retriedAtOnce < retriesAtOnce
    this.#retriedAtOnce = isAtOnce ? this.#retriedAtOnce + 1 : 0
    return isAtOnce ? 0 : 15 * minute
  }

  // At once the first time; a network that always asks for a restart must not cause an endless loop.
  #pauseAfterRestart(): number {
    const now = this.#deps.clock.monotonic()
    const again = this.#restartedAt !== undefined && now - this.#restartedAt < minute
    this.#restartedAt = now
    return again ? this.#pauseAfterFailure() : 0
  }

  // Two clients that reconnect at once replace each other for ever: one attempt, then a person decides.
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
