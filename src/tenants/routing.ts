// Decides which helpdesk an instance talks to (that of its tenant, else the default), and which secrets may sign its callbacks.

import { accountPlace, inboxPlace } from '../core/downstream.ts'
import type { Destination, InboxAccess } from '../core/downstream.ts'
import type { AccountAccess } from '../core/helpdesk/helpdesk-account.ts'
import type { InboxIdentities } from './inbox-identities.ts'
import type { TenantCache } from './tenant-cache.ts'
import type { WebhookSecrets } from './webhook-secrets.ts'

export type DefaultDestination = {
  baseUrl: string | null
  apiToken: string
  accountId: number
  inboxId: number
  webhookSecret: string
}

type Route = { ownerTag: string; inboxId: number }

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
    const found = await this.#find(route)
    return found && { ...found, isStandard: isSameAccount(found.account, this.#deps.standard) }
  }

  /** Null while no helpdesk or no inbox is configured: received events wait. */
  async accessOf(route: Route): Promise<InboxAccess | null> {
    const found = await this.#find(route)
    if (!found) return null
    const { tenant, instance, standard } = found.inboxes
    const inboxId = [tenant, instance, standard].find((id) => id > 0)
    return inboxId === undefined ? null : { ...found.account, inboxId }
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

  /**
   * The secrets of the destination, of the tenant and of the service: each of them may sign a callback. Empty when callbacks
   * are not signed. A callback to an instance that does not exist is signed with the secret of the service.
   */
  async webhookSecretsOf(route: Route | undefined): Promise<string[]> {
    const destination = route && (await this.destinationOf(route))
    return this.#withConfigured(route, destination ? await this.#secretsAt(destination) : [])
  }

  /** Those of the tenant and of the service, which are known also before the helpdesk inbox is identified. */
  configuredSecretsOf(route: Route | undefined): Promise<string[]> {
    return this.#withConfigured(route, [])
  }

  /** The secrets of all three, without asking the helpdesk which inbox it has. */
  async storedSecretsOf(route: Route): Promise<string[]> {
    const access = await this.accessOf(route)
    const stored = access && (await this.#deps.secrets.find(await this.#deps.identities.lastKeyOf(access)))
    return this.#withConfigured(route, stored ? [stored] : [])
  }

  async #find({ ownerTag, inboxId: instance }: Route): Promise<Omit<AccountRoute, 'isStandard'> | null> {
    const { standard } = this.#deps
    const tenant = await this.#tenantOf(ownerTag)
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

  async #withConfigured(route: Route | undefined, stored: readonly string[]): Promise<string[]> {
    const tenant = await this.#tenantOf(route?.ownerTag ?? '')
    const all = [...stored, tenant?.webhookSecret ?? '', this.#deps.standard.webhookSecret]
    return [...new Set(all)].filter((secret) => secret !== '')
  }

  async #tenantOf(ownerTag: string) {
    return ownerTag === '' ? undefined : this.#deps.tenants.find(ownerTag)
  }
}

function isSameAccount(account: AccountAccess, { baseUrl, accountId }: DefaultDestination): boolean {
  return baseUrl !== null && accountPlace(account) === accountPlace({ baseUrl, accountId })
}
