// The secrets of the destinations, in memory for the path of callbacks: a callback costs no read of the database.

import type { DestinationKey } from '../core/ids.ts'
import type { Clock } from '../lib/clock.ts'
import { LoadingCache } from '../lib/loading-cache.ts'
import type { WebhookSecretStore } from '../storage/stores/accounts/webhook-secret-store.ts'

// Rows of a destination may be moved to another key. The helpdesk inbox is identified again as often.
const maxAgeMs = 10 * 60_000
// A helpdesk inbox that could not be identified is asked for as often.
const elsewhereMaxAgeMs = 30_000
const maxEntries = 10_000

type Deps = { store: Pick<WebhookSecretStore, 'find' | 'findElsewhere' | 'put' | 'remove'>; clock: Clock }

export class WebhookSecrets {
  readonly #store: Deps['store']
  readonly #entries: LoadingCache<string | undefined>
  readonly #elsewhere: LoadingCache<string[]>

  constructor({ store, clock }: Deps) {
    this.#store = store
    const load = (destination: DestinationKey) => store.find(destination)
    this.#entries = new LoadingCache({ load, clock, max: maxEntries, ttlMs: maxAgeMs })
    const loadElsewhere = (place: string) => store.findElsewhere(place)
    this.#elsewhere = new LoadingCache({ load: loadElsewhere, clock, max: maxEntries, ttlMs: elsewhereMaxAgeMs })
  }

  /** Undefined when none is stored; that is remembered too. */
  find(destination: DestinationKey): Promise<string | undefined> {
    return this.#entries.find(destination)
  }

  /**
   * The secrets that a helpdesk inbox may have if it cannot be identified, and if no inbox was identified at this place
   * before. The address may be new or wrong, and the service may know the helpdesk inbox at another place.
   */
  findElsewhere(place: string): Promise<string[]> {
    return this.#elsewhere.find(place)
  }

  /** Another process has changed a secret. */
  evictAll(): void {
    this.#entries.evictAll()
    this.#elsewhere.evictAll()
  }

  /** From now on callbacks of the destination must be signed. Null: the helpdesk inbox has no secret and signs nothing. */
  async keep(destination: DestinationKey, secret: string | null): Promise<void> {
    try {
      await (secret === null ? this.#store.remove(destination) : this.#store.put(destination, secret))
    } finally {
      // Also after a failure: the change may have been stored and its answer lost.
      this.#entries.evict(destination)
    }
  }
}
