// Remembers which callbacks were answered, and stores that for many rows at once. A row that was accepted is stored as unsure,
// so accepting a message needs no second commit, and a crash leaves every row unsure whose answer may not have arrived.

import type { RowId } from '../../../core/ids.ts'
import { unlessLost } from '../../../core/nodes/hold.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'

type Deps = { store: Pick<ShownStore, 'noteAnswers'>; clock: Clock }

// If the answer came too late for the helpdesk, the helpdesk says so within this time. A process that ends earlier leaves the
// row unsure, and the next process looks at it.
const contradictedMs = 3000

export class GivenAnswers {
  readonly #deps: Deps
  /** When each callback was answered. */
  #given = new Map<RowId, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The answer has left this process. It makes the helpdesk show the message as sent. */
  note(id: RowId): void {
    this.#given.set(id, this.#deps.clock.monotonic())
  }

  /** Stores the answers that nothing has contradicted. */
  async flush(): Promise<void> {
    const { store, clock } = this.#deps
    const now = clock.monotonic()
    const ripe = [...this.#given].filter(([, since]) => now - since >= contradictedMs).map(([id]) => id)
    if (ripe.length === 0) return
    // The row of a lost instance stays unsure, and its holder looks at it.
    await unlessLost(store.noteAnswers(ripe))
    for (const id of ripe) this.#given.delete(id)
  }
}
