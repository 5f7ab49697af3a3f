// Remembers which callbacks were answered, and stores that for many rows at once. A row that was accepted is stored as unsure,
// so accepting a message needs no second commit, and a crash leaves every row unsure whose answer may not have arrived.

import type { RowId } from '../../../core/ids.ts'
import type { Log } from '../../../lib/log.ts'
import type { ShownStore } from '../../../storage/stores/messages/shown-store.ts'

type Deps = { store: Pick<ShownStore, 'noteAnswers'>; log: Log }

export class GivenAnswers {
  readonly #deps: Deps
  #answers = new Map<RowId, 'sent' | 'failed'>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What the helpdesk shows after the answer. */
  note(id: RowId, shown: 'sent' | 'failed'): void {
    this.#answers.set(id, shown)
  }

  async flush(): Promise<void> {
    if (this.#answers.size === 0) return
    const answers = this.#answers
    this.#answers = new Map()
    try {
      await this.#deps.store.noteAnswers(answers)
    } catch (error) {
      this.#answers = new Map([...answers, ...this.#answers])
      throw error
    }
  }

  /** The next process looks at the messages whose answers cannot be stored now. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.flush()
    } catch (err) {
      this.#deps.log.warn({ err }, 'it could not be stored which callbacks were answered')
    }
  }
}
