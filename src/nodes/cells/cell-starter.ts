// Starts cells for placement: one at a time, and not again at once when one does not join.
//
// An account that waits for a cell is away. So when several cells in a row have not started, suspects are placed like all other
// instances for a while, also if one of them ends its node.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

type Deps = {
  /** Resolves when the cell has joined. */
  start: () => Promise<void>
  clock: Pick<Clock, 'monotonic'>
  log: Log
}

/** A plan that was begun before the cell had joined does not see it. */
const settleMs = 3_000
const pauseMs = 10_000
const mostFailures = 3
const withoutCellsMs = 10 * 60_000

export class CellStarter {
  readonly #deps: Deps
  #failures = 0
  #notBefore = -Infinity

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether suspects may wait for a cell. */
  get isPossible(): boolean {
    return this.#failures < mostFailures || this.#deps.clock.monotonic() >= this.#notBefore
  }

  start(): void {
    const { start, clock } = this.#deps
    if (clock.monotonic() < this.#notBefore) return
    this.#notBefore = Infinity
    start().then(
      () => {
        this.#failures = 0
        this.#notBefore = clock.monotonic() + settleMs
      },
      (err: unknown) => {
        this.#failed(err)
      },
    )
  }

  #failed(err: unknown): void {
    const { clock, log } = this.#deps
    this.#failures += 1
    const isLast = this.#failures >= mostFailures
    this.#notBefore = clock.monotonic() + (isLast ? withoutCellsMs : pauseMs)
    log.error({ err }, 'a cell for suspect instances could not be started')
    if (isLast) log.error({}, 'no cell starts, so suspect instances go to ordinary nodes for ten minutes')
  }
}
