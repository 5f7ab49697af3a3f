// Decides which helpdesk an instance talks to (that of its tenant, else the default), and which secrets may sign its callbacks.

import { accountPlace, inboxPlace } from '../core/downstream.ts'
import type { Destination, InboxAccess } from '../core/downstream.ts'
import type { AccountAccess } from '../core/helpdesk/helpdesk-account.ts'
import type { InboxIdentities } from './inbox-identities.ts'
import type { TenantCache, TenantWithSecrets } from './tenant-cache.ts'
import type { WebhookSecrets } from './webhook-secrets.ts'

export type DefaultDestination = {
  baseUrl: string | null
  apiToken: string
  accountId: number
  inboxId: number
  webhookSecret: string
}

type Route = { ownerTag: string; inboxId: number }
/** Undefined for an instance without a tenant. */
type OwnTenant = TenantWithSecrets | undefined

export type AccountRoute = {
  account: AccountAccess
  /** The account is that of the settings, which DOWNSTREAM_INBOX_ID is about. */
  isStandard: boolean
  /** The helpdesk inboxes that are set for an instance; 0 is none. The first of them counts. */
  inboxes: Record<'tenant' | 'instance' | 'standard', number>
}

type Deps = {
  tenants: Pick<TenantCache, 'find'>
  standard: DefaultDestination
  identities: Pick<InboxIdentities, 'identify' | 'identifyInTime' | 'lastKeyOf'>
  secrets: Pick<WebhookSecrets, 'find' | 'findElsewhere'>
}

export class Routing {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Null while no helpdesk is configured. */
  async accountOf(route: Route): Promise<AccountRoute | null> {
    const found = this.#find(route, await this.#tenantOf(route.ownerTag))
    return found && { ...found, isStandard: isSameAccount(found.account, this.#deps.standard) }
  }

  /** Null while no helpdesk or no inbox is configured: received events wait. */
  async accessOf(route: Route): Promise<InboxAccess | null> {
    return this.#access(route, await this.#tenantOf(route.ownerTag))
  }

  /** For callbacks, which cannot wait until the helpdesk inbox is identified. */
  async destinationOf(route: Route): Promise<Destination | null> {
    return await this.#destination(route, await this.#tenantOf(route.ownerTag))
  }

  /** For everything that is changed at the helpdesk. Rejects with a DownstreamError when the helpdesk cannot be asked. */
  async identifiedOf(route: Route): Promise<Destination | null> {
    const access = await this.accessOf(route)
    return access && this.#deps.identities.identify(access)
  }

  /**
   * The secrets of the destination, of the tenant and of the service: each of them may sign a callback. Empty when callbacks
   * are not signed. A callback to an instance that does not exist is signed with the secret of the service.
   */
  async webhookSecretsOf(route: Route | undefined): Promise<string[]> {
    const tenant = await this.#tenantOf(route?.ownerTag ?? '')
    const destination = route && (await this.#destination(route, tenant))
    return this.#withConfigured(tenant, destination ? await this.#secretsAt(destination) : [])
  }

  /** Those of the tenant and of the service, which are known also before the helpdesk inbox is identified. */
  async configuredSecretsOf(route: Route | undefined): Promise<string[]> {
    return this.#withConfigured(await this.#tenantOf(route?.ownerTag ?? ''), [])
  }

  /** The secrets of all three, without asking the helpdesk which inbox it has. */
  async storedSecretsOf(route: Route): Promise<string[]> {
    const tenant = await this.#tenantOf(route.ownerTag)
    const access = this.#access(route, tenant)
    const stored = access && (await this.#deps.secrets.find(await this.#deps.identities.lastKeyOf(access)))
    return this.#withConfigured(tenant, stored ? [stored] : [])
  }

  #destination(route: Route, tenant: OwnTenant): Promise<Destination> | null {
    const access = this.#access(route, tenant)
    return access && this.#deps.identities.identifyInTime(access)
  }

  #access(route: Route, tenant: OwnTenant): InboxAccess | null {
    const found = this.#find(route, tenant)
    if (!found) return null
    const inboxId = [found.inboxes.tenant, found.inboxes.instance, found.inboxes.standard].find((id) => id > 0)
    return inboxId === undefined ? null : { ...found.account, inboxId }
  }

  #find({ inboxId: instance }: Route, tenant: OwnTenant): Omit<AccountRoute, 'isStandard'> | null {
    const { standard } = this.#deps
    const { baseUrl, apiToken, accountId } = tenant ?? standard
    if (baseUrl === null || apiToken === '') return null
    const inboxes = { tenant: tenant?.inboxId ?? 0, instance, standard: standard.inboxId }
    return { account: { baseUrl, accountId, apiToken }, inboxes }
  }

  /** A wrong address of the helpdesk must not open the webhook to callbacks that are not signed. */
  async #secretsAt(destination: Destination): Promise<string[]> {
    const { secrets } = this.#deps
    const secret = await secrets.find(destination.key)
    if (secret !== undefined) return [secret]
    return destination.isUnidentified ? secrets.findElsewhere(inboxPlace(destination)) : []
  }

  #withConfigured(tenant: OwnTenant, stored: readonly string[]): string[] {
    const all = [...stored, tenant?.webhookSecret ?? '', this.#deps.standard.webhookSecret]
    return [...new Set(all)].filter((secret) => secret !== '')
  }

  #tenantOf(ownerTag: string): Promise<OwnTenant> | undefined {
    return ownerTag === '' ? undefined : this.#deps.tenants.find(ownerTag)
  }
}

function isSameAccount(account: AccountAccess, { baseUrl, accountId }: DefaultDestination): boolean {
  return baseUrl !== null && accountPlace(account) === accountPlace({ baseUrl, accountId })
}
