// Circuit breakers, one per destination and token: a helpdesk that keeps failing gets no calls for a while.
//
// closed   every call goes through; the fifth failure in a row opens the breaker
// resting  calls fail at once with the error that opened the breaker, until the pause is over
// trying   the first call after the pause asks a harmless question; calls beside it still fail at once.
//          An answer closes the breaker, another failure opens it for twice as long
//
// Only failures of the destination count: unreachable, wrong token, time-outs, 429, 5xx. Any other refusal shows that Chatwoot
// is alive. The breaker only saves useless calls. The bridge decides whether a destination is held.

import { DownstreamError } from '../core/downstream.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { UploadUnreadable } from './failures.ts'

type FailingDestination = {
  failures: number
  openings: number
  restUntil: number | null
  isTrying: boolean
  last: DownstreamError
}

/** A destination that gets no calls at the moment. */
export type Resting = { key: string; reason: string; forMs: number }

type Options = { clock: Pick<Clock, 'monotonic'>; random?: () => number }

const failuresToOpen = 5

export class Breakers {
  readonly #options: Options
  readonly #failing = new Map<string, FailingDestination>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Runs `call`, or fails at once. `question` is asked to find out whether the destination is back. */
  async run<T>(key: string, call: () => Promise<T>, question: () => Promise<unknown>): Promise<T> {
    const failing = this.#failing.get(key)
    if (failing && failing.restUntil !== null) await this.#leaveRest(key, failing, question)
    return this.watch(key, call)
  }

  /** Runs `call` in every state, and counts its outcome. */
  async watch<T>(key: string, call: () => Promise<T>): Promise<T> {
    try {
      const result = await call()
      this.#failing.delete(key)
      return result
    } catch (error) {
      this.#note(key, error)
      throw error
    }
  }

  /** Runs `call`, or fails at once while the destination rests. The outcome does not count. */
  async beside<T>(key: string, call: () => Promise<T>): Promise<T> {
    const failing = this.#failing.get(key)
    if (failing && failing.restUntil !== null) throw repeated(failing.last, this.#leftOf(failing))
    return call()
  }

  get resting(): Resting[] {
    return [...this.#failing].flatMap(([key, failing]) =>
      failing.restUntil === null ? [] : [{ key, reason: failing.last.message, forMs: this.#leftOf(failing) }],
    )
  }

  /** In whole milliseconds: it becomes part of times that are stored. */
  #leftOf({ restUntil }: FailingDestination): number {
    return Math.max(0, Math.ceil((restUntil ?? 0) - this.#options.clock.monotonic()))
  }

  async #leaveRest(key: string, failing: FailingDestination, question: () => Promise<unknown>): Promise<void> {
    const leftMs = this.#leftOf(failing)
    if (leftMs > 0 || failing.isTrying) throw repeated(failing.last, leftMs)
    failing.isTrying = true
    try {
      await this.watch(key, question)
    } catch (error) {
      // The breaker has closed: Chatwoot answered, although with a refusal.
      if (this.#failing.get(key) !== failing) return
      this.#open(failing)
      throw error instanceof DownstreamError ? repeated(error, this.#leftOf(failing)) : error
    } finally {
      failing.isTrying = false
    }
  }

  #note(key: string, error: unknown): void {
    if (!(error instanceof DownstreamError) || error instanceof UploadUnreadable) return
    if (error.failure !== 'destination' && error.failure !== 'transient') {
      this.#failing.delete(key)
      return
    }
    const failing = this.#failing.get(key) ?? blank(error)
    this.#failing.set(key, failing)
    failing.last = error
    failing.failures++
    // Calls that were under way when the breaker opened do not make the pause longer.
    if (failing.restUntil === null && failing.failures >= failuresToOpen) this.#open(failing)
  }

  #open(failing: FailingDestination): void {
    const pause = backoffMs(failing.openings++, { firstMs: 1000, ceilingMs: 30_000, ...this.#random() })
    const wanted = Math.min(failing.last.retryAfterMs ?? 0, 60_000)
    failing.restUntil = this.#options.clock.monotonic() + Math.max(pause, wanted)
  }

  #random(): { random?: () => number } {
    const { random } = this.#options
    return random ? { random } : {}
  }
}

function blank(last: DownstreamError): FailingDestination {
  return { failures: 0, openings: 0, restUntil: null, isTrying: false, last }
}

/** The same failure for a call that was not made. */
function repeated({ failure, message, status }: DownstreamError, retryAfterMs: number): DownstreamError {
  return new DownstreamError(failure, message, { status, retryAfterMs, mayHaveHappened: false })
}
