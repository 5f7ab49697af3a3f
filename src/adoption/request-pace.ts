// Says when the next request of a job may go to the helpdesk. All jobs share one rate, and live messages go first.

import type { DestinationKey } from '../core/ids.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'

type Deps = {
  clock: Clock
  /** Whether the helpdesk inbox has many live messages at the moment. */
  isBusy: (destination: DestinationKey) => boolean
}

const intervalMs = 200
/** How long live messages go first at the most: a job must not stand still for ever. */
const longestBusyMs = 10_000
const busyPauseMs = 100

export class RequestPace {
  readonly #deps: Deps
  #nextAt = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects when the signal aborts. */
  async turn(destination: DestinationKey, signal: AbortSignal): Promise<void> {
    const { clock, isBusy } = this.#deps
    const until = clock.monotonic() + longestBusyMs
    while (isBusy(destination) && clock.monotonic() < until && !signal.aborted) await sleep(clock, busyPauseMs, signal)
    signal.throwIfAborted()
    const now = clock.monotonic()
    const at = Math.max(now, this.#nextAt)
    this.#nextAt = at + intervalMs
    if (at > now) await sleep(clock, at - now, signal)
    signal.throwIfAborted()
  }
}
