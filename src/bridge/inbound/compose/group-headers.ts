// When a group message needs a header again: always, or only when another one speaks or time has passed.

import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'

const maxChats = 10_000

export class GroupHeaders {
  readonly #ttlMs: number
  readonly #last: BoundedMap<string>

  constructor({ ttlMs, clock }: { ttlMs: number; clock: Clock }) {
    this.#ttlMs = ttlMs
    this.#last = new BoundedMap({ clock, max: maxChats, ttlMs })
  }

  needed(conversation: string, sender: string): boolean {
    return this.#ttlMs === 0 || this.#last.get(conversation) !== sender
  }

  /** A message of this sender is the last one in the conversation now. */
  note(conversation: string, sender: string): void {
    // The time of the header counts, not that of the messages after it.
    if (this.#ttlMs > 0 && this.#last.get(conversation) !== sender) this.#last.set(conversation, sender)
  }
}
