// Remembers which version each helpdesk told at its last check.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'

const maxEntries = 1000

export class HelpdeskVersions {
  readonly #versions: BoundedMap<string>

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#versions = new BoundedMap({ clock, max: maxEntries, ttlMs: Infinity })
  }

  note(baseUrl: string, version: string): void {
    this.#versions.set(baseUrl, version)
  }

  /** Null when the helpdesk was not asked yet, or did not answer. */
  of(baseUrl: string): string | null {
    return this.#versions.get(baseUrl) ?? null
  }
}
