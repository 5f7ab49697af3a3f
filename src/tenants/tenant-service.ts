// The use cases behind the tenant endpoints: every change is audited without its secrets, and cached settings are dropped.

import type { AuditRecord, Caller } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import type { Tenant, TenantSettings } from '../core/tenant.ts'
import type { Clock } from '../lib/clock.ts'
import type { TenantStore } from '../storage/stores/accounts/tenant-store.ts'

type Deps = {
  tenants: Pick<TenantStore, 'list' | 'find' | 'put' | 'patch' | 'remove'>
  clock: Clock
  /** Called after every change, so that no part goes on with the old settings. */
  onChanged: (ownerTag: string) => Promise<void>
}

/** The names of the settings in audit entries. */
const wireNames: Record<keyof TenantSettings, string> = {
  baseUrl: 'downstream_base_url',
  apiToken: 'downstream_api_token',
  accountId: 'downstream_account_id',
  inboxId: 'downstream_inbox_id',
  webhookSecret: 'webhook_hmac_secret',
}

export class TenantService {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  list(): Promise<Tenant[]> {
    return this.#deps.tenants.list()
  }

  async get(ownerTag: string): Promise<Tenant> {
    const tenant = await this.#deps.tenants.find(ownerTag)
    if (!tenant) throw unknownTenant(ownerTag)
    return tenant
  }

  async put(ownerTag: string, settings: TenantSettings, actor: Caller): Promise<Tenant> {
    const { baseUrl, accountId, inboxId, webhookSecret } = settings
    const metadata = {
      [wireNames.baseUrl]: baseUrl,
      [wireNames.accountId]: accountId,
      [wireNames.inboxId]: inboxId,
      webhook_hmac_secret_set: webhookSecret !== null,
    }
    const audit = this.#audit(actor, 'tenant.upsert', ownerTag, metadata)
    return this.#changing(ownerTag, () => this.#deps.tenants.put(ownerTag, settings, audit))
  }

  async patch(ownerTag: string, changes: Partial<TenantSettings>, actor: Caller): Promise<Tenant> {
    const fields = Object.keys(changes).map((key) => wireNames[key as keyof TenantSettings])
    if (fields.length === 0) return this.get(ownerTag)
    const audit = this.#audit(actor, 'tenant.patch', ownerTag, { fields: fields.sort() })
    const tenant = await this.#changing(ownerTag, () => this.#deps.tenants.patch(ownerTag, changes, audit))
    if (!tenant) throw unknownTenant(ownerTag)
    return tenant
  }

  async remove(ownerTag: string, actor: Caller): Promise<void> {
    const audit = this.#audit(actor, 'tenant.delete', ownerTag, {})
    const tenant = await this.#changing(ownerTag, () => this.#deps.tenants.remove(ownerTag, audit))
    if (!tenant) throw unknownTenant(ownerTag)
  }

  /** Also after a failure: the change may have been stored and its answer lost. */
  async #changing<T>(ownerTag: string, change: () => Promise<T>): Promise<T> {
    try {
      return await change()
    } finally {
      await this.#deps.onChanged(ownerTag)
    }
  }

  #audit(
    actor: Caller,
    action: AuditRecord['action'],
    ownerTag: string,
    metadata: NonNullable<AuditRecord['metadata']>,
  ): AuditRecord {
    return { at: this.#deps.clock.now(), actor, action, ownerTag, target: ownerTag, metadata }
  }
}

export function unknownTenant(ownerTag: string): BridgeError {
  return new BridgeError('SERVICE_TENANT_NOT_FOUND', `there is no tenant with owner_tag ${JSON.stringify(ownerTag)}`)
}
