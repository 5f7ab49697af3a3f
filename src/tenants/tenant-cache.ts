// Tenants with their secrets, as the paths of messages need them: at most 30 s old, dropped at once when changed here.

import type { Tenant, TenantSecrets } from '../core/tenant.ts'
import type { Clock } from '../lib/clock.ts'
import { LoadingCache } from '../lib/loading-cache.ts'
import type { TenantStore } from '../storage/stores/accounts/tenant-store.ts'

const maxAgeMs = 30_000
const maxEntries = 10_000

export type TenantWithSecrets = Tenant & TenantSecrets

type Deps = { tenants: Pick<TenantStore, 'findWithSecrets'>; clock: Clock }

export class TenantCache {
  readonly #entries: LoadingCache<TenantWithSecrets | undefined>

  constructor({ tenants, clock }: Deps) {
    const load = (ownerTag: string) => tenants.findWithSecrets(ownerTag)
    this.#entries = new LoadingCache({ load, clock, max: maxEntries, ttlMs: maxAgeMs })
  }

  /** Undefined when no tenant has this tag; that is remembered too. */
  find(ownerTag: string): Promise<TenantWithSecrets | undefined> {
    return this.#entries.find(ownerTag)
  }

  evict(ownerTag: string): void {
    this.#entries.evict(ownerTag)
  }

  /** Another process has changed a tenant. */
  evictAll(): void {
    this.#entries.evictAll()
  }
}
