// Gives the signals of one session to the supervisor, in order. A signal may wait until something is stored.

import type { SessionSignal } from '../../core/network.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { Lane } from '../../lib/queues/lane.ts'
import type { Log } from '../../lib/log.ts'
import { runOutside } from './fault-isolation.ts'

type Deps = { onSignal: (signal: SessionSignal) => void; log: Log }

export class SessionSignals {
  readonly #deps: Deps
  readonly #lane = new Lane()
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    // The first signal comes after open() has resolved.
    void this.#lane.run(() => new Promise((resolve) => setImmediate(resolve)))
  }

  /** Gives the signal after `after` has resolved. If `after` rejects, the signal would be wrong and is dropped. */
  announce(signal: SessionSignal | Promise<SessionSignal>, { after }: { after?: Promise<unknown> } = {}): void {
    const announced = this.#lane.run(async () => {
      await after
      this.#emit(await signal)
    })
    announced.catch(ignoreRejection)
  }

  /** No signal is given from now on. */
  close(): void {
    this.#isOver = true
  }

  #emit(signal: SessionSignal): void {
    if (this.#isOver) return
    if (signal.kind === 'closed') this.#isOver = true
    try {
      runOutside(() => {
        this.#deps.onSignal(signal)
      })
    } catch (err) {
      this.#deps.log.error({ signal: signal.kind, err }, 'signal handler failed')
    }
  }
}
