// Plans a look at the helpdesk for a message that was refused or has failed. The look comes a second after our answer: by then
// the helpdesk shows the failure that it makes of the answer, and our reason comes after the one of the helpdesk.

import type { RowId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'

const afterAnswerMs = 1000

type Deps = {
  clock: Clock
  /** Starts the looks that are due. */
  wake: () => void
}

export class PlannedLooks {
  readonly #deps: Deps
  /** The rows whose second is not over. It begins with the commit. */
  readonly #early = new Map<RowId, { cancel?: () => void }>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Stores a failure, together with the time of its look. Our answer follows the commit, however long the commit takes. */
  async after<T>(id: RowId, commit: (lookAt: number) => Promise<T>): Promise<T> {
    const { clock, wake } = this.#deps
    const second: { cancel?: () => void } = {}
    this.#early.get(id)?.cancel?.()
    this.#early.set(id, second)
    try {
      return await commit(clock.now() + afterAnswerMs)
    } finally {
      second.cancel = clock.after(afterAnswerMs, () => {
        if (this.#early.get(id) === second) this.#early.delete(id)
        wake()
      })
    }
  }

  /** Whether the helpdesk may not show the failure of this row yet. A look that is asked for meanwhile comes after it. */
  isTooEarly(id: RowId): boolean {
    return this.#early.has(id)
  }

  [Symbol.dispose](): void {
    for (const { cancel } of this.#early.values()) cancel?.()
  }
}
