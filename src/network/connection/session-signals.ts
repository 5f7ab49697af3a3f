// The signals of one session, in order: each may wait for something to be stored, `closed` is the last.

import type { SessionSignal } from '../../core/network.ts'
import type { Log } from '../../lib/log.ts'
import { runOutside } from './fault-isolation.ts'

type Deps = { onSignal: (signal: SessionSignal) => void; log: Log }

export class SessionSignals {
  readonly #deps: Deps
  /** The first turn comes after open() has resolved. */
  #line: Promise<unknown> = new Promise((resolve) => setImmediate(resolve))
  #over = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Not before `stored` has resolved; when that fails, the signal is not true and is not given. */
  announce(signal: SessionSignal, stored?: Promise<unknown>): void {
    this.#line = this.#line
      .then(() => stored)
      .then(
        () => {
          this.#emit(signal)
        },
        () => undefined,
      )
  }

  /** Nothing more is heard. */
  close(): void {
    this.#over = true
  }

  #emit(signal: SessionSignal): void {
    if (this.#over) return
    if (signal.kind === 'closed') this.#over = true
    try {
      runOutside(() => {
        this.#deps.onSignal(signal)
      })
    } catch (err) {
      this.#deps.log.error({ signal: signal.kind, err }, 'signal handler failed')
    }
  }
}
