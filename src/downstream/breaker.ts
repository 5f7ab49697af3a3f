// Circuit breakers, one per destination and token: a helpdesk that keeps failing is left alone for a while.
//
// closed   every call goes through; the fifth failure in a row opens it
// resting  calls fail at once with what opened it, until the pause is over
// trying   the first call after the pause asks a harmless question; calls beside it still fail at once.
//          An answer closes the breaker, another failure opens it for twice as long
//
// Failures are those of the destination: unreachable, wrong token, time-outs, 429, 5xx. Whatever else Chatwoot refuses
// shows that it is alive. The breaker only saves both sides useless calls; whether messages are held back is up to the bridge.

import { DownstreamError } from '../core/downstream.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { UploadUnreadable } from './failures.ts'

type HoldRequest = {
  failures: number
  openings: number
  restUntil: number | null
  isTrying: boolean
  last: DownstreamError
}

/** A destination that is left alone at the moment. */
export type Resting = { key: string; reason: string; forMs: number }

type Options = { clock: Pick<Clock, 'monotonic'>; random?: () => number }

const failuresToOpen = 5

export class Breakers {
  readonly #options: Options
  readonly #troubled = new Map<string, HoldRequest>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Runs `call`, or fails at once. `question` is asked to find out whether the destination is back. */
  async run<T>(key: string, call: () => Promise<T>, question: () => Promise<unknown>): Promise<T> {
    const trouble = this.#troubled.get(key)
    if (trouble && trouble.restUntil !== null) await this.#leaveRest(key, trouble, question)
    return this.watch(key, call)
  }

  /** Runs `call` whatever the state, and learns from it. */
  async watch<T>(key: string, call: () => Promise<T>): Promise<T> {
    try {
      const result = await call()
      this.#troubled.delete(key)
      return result
    } catch (error) {
      this.#note(key, error)
      throw error
    }
  }

  get resting(): Resting[] {
    return [...this.#troubled].flatMap(([key, trouble]) =>
      trouble.restUntil === null ? [] : [{ key, reason: trouble.last.message, forMs: this.#leftOf(trouble) }],
    )
  }

  #leftOf({ restUntil }: HoldRequest): number {
    return Math.max(0, (restUntil ?? 0) - this.#options.clock.monotonic())
  }

  async #leaveRest(key: string, trouble: HoldRequest, question: () => Promise<unknown>): Promise<void> {
    const leftMs = this.#leftOf(trouble)
    if (leftMs > 0 || trouble.isTrying) throw repeated(trouble.last, leftMs)
    trouble.isTrying = true
    try {
      await this.watch(key, question)
    } catch (error) {
      // Forgotten: it was an answer after all, only not the one asked for.
      if (this.#troubled.get(key) !== trouble) return
      this.#open(trouble)
      throw error instanceof DownstreamError ? repeated(error, this.#leftOf(trouble)) : error
    } finally {
      trouble.isTrying = false
    }
  }

  #note(key: string, error: unknown): void {
    if (!(error instanceof DownstreamError) || error instanceof UploadUnreadable) return
    if (error.failure !== 'destination' && error.failure !== 'transient') {
      this.#troubled.delete(key)
      return
    }
    const trouble = this.#troubled.get(key) ?? blank(error)
    this.#troubled.set(key, trouble)
    trouble.last = error
    trouble.failures++
    // Calls that were under way when it opened do not make the pause longer.
    if (trouble.restUntil === null && trouble.failures >= failuresToOpen) this.#open(trouble)
  }

  #open(trouble: HoldRequest): void {
    const pause = backoffMs(trouble.openings++, { firstMs: 1000, ceilingMs: 30_000, ...this.#random() })
    const wanted = Math.min(trouble.last.retryAfterMs ?? 0, 60_000)
    trouble.restUntil = this.#options.clock.monotonic() + Math.max(pause, wanted)
  }

  #random(): { random?: () => number } {
    const { random } = this.#options
    return random ? { random } : {}
  }
}

function blank(last: DownstreamError): HoldRequest {
  return { failures: 0, openings: 0, restUntil: null, isTrying: false, last }
}

/** The same failure for a call that was not made. */
function repeated({ failure, message, status }: DownstreamError, retryAfterMs: number): DownstreamError {
  return new DownstreamError(failure, message, { status, retryAfterMs, mayHaveHappened: false })
}
