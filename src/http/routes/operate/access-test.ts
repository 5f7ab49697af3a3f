// Tests a helpdesk: that of a tenant, that of the settings, or one that is not stored yet.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { BridgeError } from '../../../core/errors.ts'
import type { AccessReport, AccessTests, TestedAccess } from '../../../setup/checks/access-tests.ts'
import type { DefaultDestination } from '../../../tenants/routing.ts'
import type { TenantCache } from '../../../tenants/tenant-cache.ts'
import { unknownTenant } from '../../../tenants/tenant-service.ts'
import { AccountId, ApiToken, BaseUrl, checkBaseUrl } from '../../helpdesk-fields.ts'
import type { HttpApp } from '../../http-app.ts'
import { nullable, OwnerTagParams, responses } from '../../schemas.ts'
import { Check, toReport } from '../check.ts'

export type AccessTestDeps = {
  tests: Pick<AccessTests, 'run'>
  tenants: Pick<TenantCache, 'find'>
  /** The helpdesk of the settings. */
  standard: DefaultDestination
}

const Body = Type.Object(
  {
    downstream_base_url: Type.Optional(nullable(BaseUrl)),
    downstream_api_token: Type.Optional(nullable(ApiToken)),
    downstream_account_id: Type.Optional(nullable(AccountId)),
  },
  {
    title: 'HelpdeskToTest',
    additionalProperties: false,
    description: 'An absent or null field is that of the settings. An address needs its own token',
  },
)
const Report = Type.Object(
  {
    ok: Type.Boolean({ description: 'No check is broken' }),
    checks: Type.Array(Check),
    inboxes: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        used_by: Type.Array(Type.String(), { description: 'The instances that deliver to this inbox' }),
      }),
      { description: 'The API inboxes that the owner of the token sees; empty when they cannot be listed' },
    ),
  },
  { title: 'HelpdeskTest' },
)

const description =
  'Nothing is stored, and nothing is changed at the helpdesk. A private address is judged as that of a tenant is. ' +
  'At most 10 tests a minute.'
const about = (operationId: string, summary: string) => ({ operationId, summary, description, tags: ['tenants'] })

export function addAccessTestRoutes(app: HttpApp, { tests, tenants, standard }: AccessTestDeps): void {
  app.post(
    '/api/tenants/:owner_tag/test',
    {
      schema: {
        ...about('testTenant', 'Test the helpdesk of a tenant: address, token, account, role, inbox'),
        params: OwnerTagParams,
        response: responses({ 200: Report }, 404, 429),
      },
    },
    async ({ params: { owner_tag: ownerTag } }) => {
      const tenant = await tenants.find(ownerTag)
      if (!tenant) throw unknownTenant(ownerTag)
      const { baseUrl, apiToken, accountId, inboxId, webhookSecret } = tenant
      const hasSecret = webhookSecret !== null || standard.webhookSecret !== ''
      return toBody(await tests.run({ baseUrl, apiToken, accountId, inboxId, namedBy: 'tenant', hasSecret }))
    },
  )
  app.post(
    '/api/destinations/test',
    {
      schema: {
        ...about('testDestination', 'Test a helpdesk before it is stored; without a body that of the settings'),
        body: Body,
        response: responses({ 200: Report }, 409, 429),
      },
      // Every field has a default, so a request without a body is complete.
      preValidation: (request, _reply, done) => {
        const given: unknown = request.body
        if (given === undefined) request.body = {}
        done()
      },
    },
    async ({ body }) => toBody(await tests.run(toAccess(standard, body))),
  )
}

function toAccess(standard: DefaultDestination, body: Static<typeof Body>): TestedAccess {
  const { downstream_base_url: url, downstream_api_token: token, downstream_account_id: account } = body
  // The token of the settings must not go to an address that a caller names.
  if (url != null && token == null) {
    const sentence = 'downstream_base_url needs downstream_api_token: the token of the settings is not sent elsewhere'
    throw new BridgeError('SERVICE_BAD_REQUEST', sentence)
  }
  const baseUrl = url == null ? standard.baseUrl : checkBaseUrl(url)
  const apiToken = token ?? standard.apiToken
  if (baseUrl === null || apiToken === '') {
    const sentence =
      'the settings name no helpdesk: send downstream_base_url and downstream_api_token, or set DOWNSTREAM_BASE_URL and DOWNSTREAM_API_TOKEN'
    throw new BridgeError('SERVICE_NO_HELPDESK', sentence)
  }
  const accountId = account ?? (url == null ? standard.accountId : 1)
  const isStandard = url == null && token == null && account == null
  const hasSecret = standard.webhookSecret !== ''
  return {
    ...{ baseUrl, apiToken, accountId, hasSecret },
    inboxId: isStandard ? standard.inboxId : 0,
    namedBy: 'standard',
  }
}

function toBody({ findings, inboxes }: AccessReport): Static<typeof Report> {
  return { ...toReport(findings), inboxes: inboxes.map(({ id, name, usedBy }) => ({ id, name, used_by: usedBy })) }
}
