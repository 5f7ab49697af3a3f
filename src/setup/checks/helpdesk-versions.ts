// Remembers which version each helpdesk told at its last check.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'

const maxEntries = 1000
/** A foreign server may answer with a very long text, which would stay in memory. */
const longestVersion = 100

export class HelpdeskVersions {
  readonly #versions: BoundedMap<string>

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#versions = new BoundedMap({ clock, max: maxEntries, ttlMs: Infinity })
  }

  note(baseUrl: string, version: string): void {
    this.#versions.set(baseUrl, beginningOf(version, longestVersion))
  }

  /** Null when the helpdesk was not asked yet, or did not answer. */
  of(baseUrl: string): string | null {
    return this.#versions.get(baseUrl) ?? null
  }
}
