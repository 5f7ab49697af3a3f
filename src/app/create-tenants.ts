// Creates the parts that know the tenants: the routing of instances to helpdesks, and the use cases on tenants.

import type { Downstream } from '../core/downstream.ts'
import type { Holds } from '../core/nodes/hold.ts'
import type { Database } from '../storage/database.ts'
import { DestinationStore } from '../storage/stores/accounts/destination-store.ts'
import { TenantStore } from '../storage/stores/accounts/tenant-store.ts'
import { WebhookSecretStore } from '../storage/stores/accounts/webhook-secret-store.ts'
import { InboxIdentities } from '../tenants/inbox-identities.ts'
import { Routing } from '../tenants/routing.ts'
import { TenantCache } from '../tenants/tenant-cache.ts'
import { TenantService } from '../tenants/tenant-service.ts'
import { WebhookSecrets } from '../tenants/webhook-secrets.ts'
import type { Base } from './base.ts'

export type RoutingSet = {
  store: TenantStore
  cache: TenantCache
  identities: InboxIdentities
  secrets: WebhookSecrets
  routing: Routing
}
type RoutingParts = { database: Database; holds: Holds; downstream: Downstream }

export function createRouting({ clock, config, log }: Base, { database, holds, downstream }: RoutingParts): RoutingSet {
  const store = new TenantStore(database)
  const cache = new TenantCache({ tenants: store, clock })
  const identities = new InboxIdentities({
    store: new DestinationStore(database, holds.nodeHold),
    downstream,
    clock,
    log,
  })
  const secrets = new WebhookSecrets({ store: new WebhookSecretStore(database, holds.nodeHold), clock })
  const routing = new Routing({ tenants: cache, standard: config.downstream, identities, secrets })
  return { store, cache, identities, secrets, routing }
}

type ChangeListener = {
  /** Called after every change of a tenant. */
  onRoutingChanged: () => void
  /** Resolves when the other nodes go on with the new settings too. */
  tellOthers: () => Promise<void>
}

export function createTenants(
  { clock }: Base,
  { store, cache }: Pick<RoutingSet, 'store' | 'cache'>,
  { onRoutingChanged, tellOthers }: ChangeListener,
) {
  return new TenantService({
    tenants: store,
    clock,
    onChanged: async (ownerTag) => {
      cache.evict(ownerTag)
      onRoutingChanged()
      await tellOthers()
    },
  })
}
