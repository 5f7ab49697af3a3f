// Plans a look at the helpdesk for a message that was refused or has failed.

import type { Clock } from '../../../lib/clock.ts'

// When a callback is refused, the helpdesk writes the HTTP status as the reason. Our reason must come after that.
const afterAnswerMs = 1000

type Deps = {
  clock: Clock
  /** Starts the looks that are due. */
  wake: () => void
}

export class PlannedLooks {
  readonly #deps: Deps
  readonly #timers = new Set<() => void>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The time of the look, which the caller stores with the row. */
  plan(): number {
    const { clock, wake } = this.#deps
    const cancel = clock.after(afterAnswerMs, () => {
      this.#timers.delete(cancel)
      wake()
    })
    this.#timers.add(cancel)
    return clock.now() + afterAnswerMs
  }

  [Symbol.dispose](): void {
    for (const cancel of this.#timers) cancel()
  }
}
