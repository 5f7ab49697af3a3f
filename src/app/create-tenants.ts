// Creates the parts that know the tenants: the routing of instances to helpdesks, and the use cases on tenants.

import type { Database } from '../storage/database.ts'
import { TenantStore } from '../storage/stores/accounts/tenant-store.ts'
import { Routing } from '../tenants/routing.ts'
import { TenantCache } from '../tenants/tenant-cache.ts'
import { TenantService } from '../tenants/tenant-service.ts'
import type { Base } from './base.ts'

export type RoutingSet = { store: TenantStore; cache: TenantCache; routing: Routing }

export function createRouting({ clock, config }: Base, database: Database): RoutingSet {
  const store = new TenantStore(database)
  const cache = new TenantCache({ tenants: store, clock })
  return { store, cache, routing: new Routing({ tenants: cache, standard: config.downstream }) }
}

/** `onRoutingChanged` is called after every change of a tenant. */
export function createTenants({ clock }: Base, { store, cache }: RoutingSet, onRoutingChanged: () => void) {
  return new TenantService({
    tenants: store,
    clock,
    onChanged: (ownerTag) => {
      cache.evict(ownerTag)
      onRoutingChanged()
    },
  })
}
