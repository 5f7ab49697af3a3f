// Tenants with their secrets as the message paths need them: at most 30 s old, dropped at once when changed here.

import type { Tenant, TenantSecrets } from '../core/tenant.ts'
import type { Clock } from '../lib/clock.ts'
import type { TenantStore } from '../storage/stores/accounts/tenant-store.ts'

const maxAgeMs = 30_000
const maxEntries = 10_000

export type TenantWithSecrets = Tenant & TenantSecrets

type Deps = { tenants: Pick<TenantStore, 'findWithSecrets'>; clock: Clock }
type Entry = { found: Promise<TenantWithSecrets | undefined>; loadedAt: number }

export class TenantCache {
  readonly #deps: Deps
  readonly #entries = new Map<string, Entry>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when no tenant has this tag; that is remembered too. */
  find(ownerTag: string): Promise<TenantWithSecrets | undefined> {
    const known = this.#entries.get(ownerTag)
    if (known && this.#deps.clock.monotonic() - known.loadedAt < maxAgeMs) return known.found
    return this.#load(ownerTag)
  }

  evict(ownerTag: string): void {
    this.#entries.delete(ownerTag)
  }

  #load(ownerTag: string): Promise<TenantWithSecrets | undefined> {
    const found = this.#deps.tenants.findWithSecrets(ownerTag)
    const entry = { found, loadedAt: this.#deps.clock.monotonic() }
    this.#makeRoom()
    this.#entries.set(ownerTag, entry)
    // A failure is not an answer: the next caller asks again.
    found.catch(() => {
      if (this.#entries.get(ownerTag) === entry) this.#entries.delete(ownerTag)
    })
    return found
  }

  #makeRoom(): void {
    const oldest = this.#entries.keys().next()
    if (this.#entries.size >= maxEntries && !oldest.done) this.#entries.delete(oldest.value)
  }
}
