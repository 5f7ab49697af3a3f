// Says when a job may make its next requests to a helpdesk inbox. All jobs at one helpdesk inbox share the rate, and live messages
// go first.

import type { DestinationKey } from '../core/ids.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'

type Deps = {
  clock: Clock
  requestsPerSec: number
  /** Whether the helpdesk inbox has many live messages at the moment. */
  isBusy: (destination: DestinationKey) => boolean
}

/** How long live messages go first at the most: a job must not stand still for ever. */
const longestBusyMs = 10_000
const busyPauseMs = 100
const mostRemembered = 1000

export class HelpdeskPace {
  readonly #deps: Deps
  /** When the next request may leave, on the monotonic clock. */
  readonly #nextAt = new Map<DestinationKey, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when so many requests may be made. Rejects when the signal aborts. */
  async turn(destination: DestinationKey, requests: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    signal.throwIfAborted()
    await this.#giveWay(destination, signal)
    const dueAt = this.#reserve(destination, requests)
    const waitMs = dueAt - clock.monotonic()
    if (waitMs > 0) await sleep(clock, waitMs, signal)
    signal.throwIfAborted()
  }

  async #giveWay(destination: DestinationKey, signal: AbortSignal): Promise<void> {
    const { clock, isBusy } = this.#deps
    const until = clock.monotonic() + longestBusyMs
    while (isBusy(destination) && clock.monotonic() < until && !signal.aborted) {
      await sleep(clock, busyPauseMs, signal)
    }
  }

  /** Returns when the requests may be made. Those of the next caller follow them. */
  #reserve(destination: DestinationKey, requests: number): number {
    const { clock, requestsPerSec } = this.#deps
    const now = clock.monotonic()
    const dueAt = Math.max(this.#nextAt.get(destination) ?? 0, now)
    this.#nextAt.set(destination, dueAt + (requests * 1000) / requestsPerSec)
    if (this.#nextAt.size > mostRemembered) {
      for (const [each, nextAt] of this.#nextAt) if (nextAt <= now) this.#nextAt.delete(each)
    }
    return dueAt
  }
}
