// The tenant endpoints: secrets are accepted and never shown.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { Tenant, TenantSettings } from '../../core/tenant.ts'
import type { TenantService } from '../../tenants/tenant-service.ts'
import { AccountId, ApiToken, BaseUrl, checkBaseUrl } from '../helpdesk-fields.ts'
import type { HttpApp } from '../http-app.ts'
import { nullable, OwnerTagParams, responses, Timestamp, toTimestamp } from '../schemas.ts'

export type TenantDeps = { tenants: TenantService }

const fields = {
  owner_tag: Type.String(),
  downstream_base_url: Type.String(),
  downstream_account_id: Type.Integer(),
  downstream_inbox_id: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
}
const TenantBody = Type.Object(fields, { title: 'Tenant' })
const ChangedTenant = Type.Object({ ...fields, message: Type.String() }, { title: 'ChangedTenant' })
const RemovedTenant = Type.Object({ message: Type.String(), owner_tag: Type.String() }, { title: 'RemovedTenant' })

const WebhookSecret = Type.String({ maxLength: 4096, description: 'Write-only; an empty one clears it' })
const optionalFields = {
  downstream_account_id: Type.Optional(nullable(AccountId)),
  downstream_inbox_id: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }))),
  webhook_hmac_secret: Type.Optional(nullable(WebhookSecret)),
}
const PutBody = Type.Object(
  { downstream_base_url: BaseUrl, downstream_api_token: ApiToken, ...optionalFields },
  { title: 'TenantPut' },
)
const PatchBody = Type.Object(
  {
    downstream_base_url: Type.Optional(nullable(BaseUrl)),
    downstream_api_token: Type.Optional(nullable(ApiToken)),
    ...optionalFields,
  },
  { title: 'TenantPatch', description: 'Absent and null fields stay as they are; unknown keys are ignored' },
)

export function addTenantRoutes(app: HttpApp, { tenants }: TenantDeps): void {
  const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['tenants'] })
  app.get(
    '/api/tenants',
    {
      schema: {
        ...about('listTenants', 'All tenants'),
        response: { 200: Type.Array(TenantBody) },
      },
    },
    async () => (await tenants.list()).map(toBody),
  )
  app.get(
    '/api/tenants/:owner_tag',
    {
      schema: {
        ...about('getTenant', 'One tenant'),
        params: OwnerTagParams,
        response: responses({ 200: TenantBody }, 404),
      },
    },
    async ({ params }) => toBody(await tenants.get(params.owner_tag)),
  )
  app.put(
    '/api/tenants/:owner_tag',
    {
      schema: {
        ...about('putTenant', 'Create a tenant or replace all of its settings'),
        params: OwnerTagParams,
        body: PutBody,
        response: { 200: ChangedTenant },
      },
    },
    async ({ params, body, actor }) => {
      const settings = { ...defaults, ...toSettings(body) } as TenantSettings
      return { ...toBody(await tenants.put(params.owner_tag, settings, actor)), message: 'saved' }
    },
  )
  app.patch(
    '/api/tenants/:owner_tag',
    {
      schema: {
        ...about('patchTenant', 'Change some settings of a tenant'),
        params: OwnerTagParams,
        body: PatchBody,
        response: responses({ 200: ChangedTenant }, 404),
      },
    },
    async ({ params, body, actor }) => ({
      ...toBody(await tenants.patch(params.owner_tag, toSettings(body), actor)),
      message: 'updated',
    }),
  )
  app.delete(
    '/api/tenants/:owner_tag',
    {
      schema: {
        ...about('deleteTenant', 'Remove a tenant; its instances go on with the default destination'),
        params: OwnerTagParams,
        response: responses({ 200: RemovedTenant }, 404),
      },
    },
    async ({ params, actor }) => {
      await tenants.remove(params.owner_tag, actor)
      return { message: 'deleted', owner_tag: params.owner_tag }
    },
  )
}

const defaults = { accountId: 1, inboxId: 0, webhookSecret: null }

function toSettings(body: Static<typeof PatchBody>): Partial<TenantSettings> {
  const { downstream_base_url: url, downstream_api_token: token, webhook_hmac_secret: secret } = body
  const { downstream_account_id: account, downstream_inbox_id: inbox } = body
  return {
    ...(url != null && { baseUrl: checkBaseUrl(url) }),
    ...(token != null && { apiToken: token }),
    ...(account != null && { accountId: account }),
    ...(inbox != null && { inboxId: inbox }),
    ...(secret != null && { webhookSecret: secret === '' ? null : secret }),
  }
}

function toBody(tenant: Tenant): Static<typeof TenantBody> {
  return {
    owner_tag: tenant.ownerTag,
    downstream_base_url: tenant.baseUrl,
    downstream_account_id: tenant.accountId,
    downstream_inbox_id: tenant.inboxId,
    created_at: toTimestamp(tenant.createdAt),
    updated_at: toTimestamp(tenant.updatedAt),
  }
}
