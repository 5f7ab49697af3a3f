// Remembers which callbacks were answered, and stores that for many rows at once. A row that was accepted is stored as unsure,
// so accepting a message needs no second commit, and a crash leaves every row unsure whose answer may not have arrived.

import type { RowId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'

type Deps = { store: Pick<ShownStore, 'noteAnswers'>; clock: Clock }
type Given = { shown: 'sent' | 'failed'; since: number }

// If the answer came too late for the helpdesk, the helpdesk says so within this time. A process that ends earlier leaves the
// row unsure, and the next process looks at it.
const contradictedMs = 3000

export class GivenAnswers {
  readonly #deps: Deps
  #given = new Map<RowId, Given>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What the helpdesk shows after the answer. */
  note(id: RowId, shown: 'sent' | 'failed'): void {
    this.#given.set(id, { shown, since: this.#deps.clock.monotonic() })
  }

  /** Stores the answers that nothing has contradicted. */
  async flush(): Promise<void> {
    const { store, clock } = this.#deps
    const now = clock.monotonic()
    const ripe = [...this.#given].filter(([, { shown, since }]) => shown === 'failed' || now - since >= contradictedMs)
    if (ripe.length === 0) return
    await store.noteAnswers(new Map(ripe.map(([id, { shown }]) => [id, shown])))
    for (const [id] of ripe) this.#given.delete(id)
  }
}
