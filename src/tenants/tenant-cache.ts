// Tenants with their secrets, as the paths of messages need them: at most 30 s old, dropped at once when changed here.

import type { Tenant, TenantSecrets } from '../core/tenant.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import type { TenantStore } from '../storage/stores/accounts/tenant-store.ts'

const maxAgeMs = 30_000
const maxEntries = 10_000

export type TenantWithSecrets = Tenant & TenantSecrets

type Found = Promise<TenantWithSecrets | undefined>
type Deps = { tenants: Pick<TenantStore, 'findWithSecrets'>; clock: Clock }

export class TenantCache {
  readonly #tenants: Deps['tenants']
  readonly #entries: BoundedMap<Found>

  constructor({ tenants, clock }: Deps) {
    this.#tenants = tenants
    this.#entries = new BoundedMap({ clock, max: maxEntries, ttlMs: maxAgeMs })
  }

  /** Undefined when no tenant has this tag; that is remembered too. */
  find(ownerTag: string): Found {
    return this.#entries.get(ownerTag) ?? this.#load(ownerTag)
  }

  evict(ownerTag: string): void {
    this.#entries.delete(ownerTag)
  }

  #load(ownerTag: string): Found {
    const found = this.#tenants.findWithSecrets(ownerTag)
    this.#entries.set(ownerTag, found)
    // A failure is not an answer: the next caller asks again.
    found.catch(() => {
      if (this.#entries.get(ownerTag) === found) this.#entries.delete(ownerTag)
    })
    return found
  }
}
