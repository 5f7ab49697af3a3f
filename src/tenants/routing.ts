// Decides which helpdesk an instance talks to (that of its tenant, else the default), and which secret signs its callbacks.

import type { Destination, InboxAccess } from '../core/downstream.ts'
import type { InboxIdentities } from './inbox-identities.ts'
import type { TenantCache } from './tenant-cache.ts'

export type DefaultDestination = {
  baseUrl: string | null
  apiToken: string
  accountId: number
  inboxId: number
  webhookSecret: string
}

type Route = { ownerTag: string; inboxId: number }
type Deps = {
  tenants: Pick<TenantCache, 'find'>
  standard: DefaultDestination
  identities: Pick<InboxIdentities, 'identify' | 'identifyInTime'>
}

export class Routing {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Null while no helpdesk or no inbox is configured: received events wait. */
  async accessOf({ ownerTag, inboxId: ownInbox }: Route): Promise<InboxAccess | null> {
    const { standard } = this.#deps
    const tenant = await this.#tenantOf(ownerTag)
    const { baseUrl, apiToken, accountId } = tenant ?? standard
    const inboxId = [tenant?.inboxId ?? 0, ownInbox, standard.inboxId].find((id) => id > 0)
    if (baseUrl === null || apiToken === '' || inboxId === undefined) return null
    return { baseUrl, accountId, inboxId, apiToken }
  }

  /** For callbacks, which cannot wait until the helpdesk inbox is identified. */
  async destinationOf(route: Route): Promise<Destination | null> {
    const access = await this.accessOf(route)
    return access && this.#deps.identities.identifyInTime(access)
  }

  /** For everything that is changed at the helpdesk. Rejects with a DownstreamError when the helpdesk cannot be asked. */
  async identifiedOf(route: Route): Promise<Destination | null> {
    const access = await this.accessOf(route)
    return access && this.#deps.identities.identify(access)
  }

  /** Empty when callbacks are not signed. */
  async webhookSecretOf({ ownerTag }: Pick<Route, 'ownerTag'>): Promise<string> {
    const tenant = await this.#tenantOf(ownerTag)
    return tenant?.webhookSecret ?? this.#deps.standard.webhookSecret
  }

  async #tenantOf(ownerTag: string) {
    return ownerTag === '' ? undefined : this.#deps.tenants.find(ownerTag)
  }
}
