// Tenants with their sealed secrets; every change is written together with its audit entry.

import type { Compilable, Selectable } from 'kysely'
import type { AuditRecord } from '../../../core/audit.ts'
import type { Tenant, TenantSecrets, TenantSettings } from '../../../core/tenant.ts'
import { auditInsert } from '../ledger/audit-store.ts'
import { settingsChanged } from '../nodes/assignment-steps.ts'
import type { Database } from '../../database.ts'
import { tenantSecrets } from '../../schema/accounts.ts'
import type { TenantTable } from '../../schema/accounts.ts'
import { placeOf, StorageError, toStatement } from '../../engine/statement.ts'
import type { Secret } from '../../engine/statement.ts'

const openColumns = [
  'owner_tag',
  'downstream_base_url',
  'downstream_account_id',
  'downstream_inbox_id',
  'created_at',
  'updated_at',
] as const

type OpenRow = Pick<Selectable<TenantTable>, (typeof openColumns)[number]>

export class TenantStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<Tenant[]> {
    const query = this.#database.query
      .selectFrom('tenants')
      .select(openColumns)
      .orderBy('owner_tag', (order) => this.#database.inByteOrder(order))
    return (await this.#database.read(query)).map(toTenant)
  }

  async find(ownerTag: string): Promise<Tenant | undefined> {
    const query = this.#database.query.selectFrom('tenants').select(openColumns).where('owner_tag', '=', ownerTag)
    const [row] = await this.#database.read(query)
    return row && toTenant(row)
  }

  async findWithSecrets(ownerTag: string): Promise<(Tenant & TenantSecrets) | undefined> {
    const query = this.#database.query.selectFrom('tenants').selectAll().where('owner_tag', '=', ownerTag)
    const [row] = await this.#database.read(query, tenantSecrets)
    if (!row) return undefined
    const webhookSecret = row.webhook_hmac_secret && decode(row.webhook_hmac_secret)
    return { ...toTenant(row), apiToken: decode(row.downstream_api_token), webhookSecret }
  }

  async count(): Promise<number> {
    const query = this.#database.query.selectFrom('tenants').select(({ fn }) => fn.countAll<number>().as('count'))
    return (await this.#database.read(query))[0]?.count ?? 0
  }

  /** Creates the tenant or replaces all of its settings; returns the tenant as it is stored now. */
  async put(ownerTag: string, settings: TenantSettings, audit: AuditRecord): Promise<Tenant> {
    const columns = { ...toColumns(ownerTag, settings), updated_at: audit.at }
    const [row] = await this.#database.writeReturning(
      ...this.#along(audit),
      this.#database.query
        .insertInto('tenants')
        .values({ owner_tag: ownerTag, created_at: audit.at, ...columns })
        .onConflict((conflict) => conflict.column('owner_tag').doUpdateSet(columns))
        .returning(openColumns),
    )
    if (!row) throw new Error('an upsert returns its row')
    return toTenant(row)
  }

  /** Returns the tenant as it is stored now. Undefined when there is none; then the audit entry is not written either. */
  async patch(ownerTag: string, changes: Partial<TenantSettings>, audit: AuditRecord): Promise<Tenant | undefined> {
    const columns = { ...toColumns(ownerTag, changes), updated_at: audit.at }
    const update = this.#database.query.updateTable('tenants').set(columns).where('owner_tag', '=', ownerTag)
    return this.#changeExisting(update.returning(openColumns), audit)
  }

  /** Returns the tenant as it was. Undefined when there is none; then the audit entry is not written either. */
  async remove(ownerTag: string, audit: AuditRecord): Promise<Tenant | undefined> {
    const removal = this.#database.query.deleteFrom('tenants').where('owner_tag', '=', ownerTag)
    return this.#changeExisting(removal.returning(openColumns), audit)
  }

  async #changeExisting(change: Compilable<OpenRow>, audit: AuditRecord): Promise<Tenant | undefined> {
    try {
      const [row] = await this.#database.writeReturning<OpenRow>(...this.#along(audit), toStatement(change, 1))
      return row && toTenant(row)
    } catch (error) {
      if (error instanceof StorageError && error.failure === 'expectation') return undefined
      throw error
    }
  }

  #along(audit: AuditRecord) {
    return [auditInsert(this.#database, audit), ...settingsChanged(this.#database)]
  }
}

function toTenant(row: OpenRow): Tenant {
  return {
    ownerTag: row.owner_tag,
    baseUrl: row.downstream_base_url,
    accountId: row.downstream_account_id,
    inboxId: row.downstream_inbox_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

type Columns = {
  downstream_base_url: string
  downstream_account_id: number
  downstream_inbox_id: number
  downstream_api_token: Secret
  webhook_hmac_secret: Secret | null
}

function toColumns(ownerTag: string, settings: TenantSettings): Columns
function toColumns(ownerTag: string, settings: Partial<TenantSettings>): Partial<Columns>
function toColumns(ownerTag: string, settings: Partial<TenantSettings>): Partial<Columns> {
  const { baseUrl, accountId, inboxId, apiToken, webhookSecret } = settings
  const seal = (column: (typeof tenantSecrets.columns)[number], value: string): Secret => ({
    seal: Buffer.from(value),
    place: placeOf(tenantSecrets.table, [ownerTag], column),
  })
  return {
    ...(baseUrl !== undefined && { downstream_base_url: baseUrl }),
    ...(accountId !== undefined && { downstream_account_id: accountId }),
    ...(inboxId !== undefined && { downstream_inbox_id: inboxId }),
    ...(apiToken !== undefined && { downstream_api_token: seal('downstream_api_token', apiToken) }),
    ...(webhookSecret !== undefined && {
      webhook_hmac_secret: webhookSecret === null ? null : seal('webhook_hmac_secret', webhookSecret),
    }),
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}
