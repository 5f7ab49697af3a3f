import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inboxPlace } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { TenantWithSecrets } from './tenant-cache.ts'
import { Routing } from './routing.ts'
import type { DefaultDestination } from './routing.ts'

const standard: DefaultDestination = {
  baseUrl: 'https://desk.example/base',
  apiToken: 'standard-token',
  accountId: 1,
  inboxId: 7,
  webhookSecret: 'standard-secret',
}

const acme: TenantWithSecrets = {
  ownerTag: 'acme',
  baseUrl: 'https://acme.example',
  apiToken: 'acme-token',
  accountId: 3,
  inboxId: 0,
  webhookSecret: null,
  createdAt: 0,
  updatedAt: 0,
}

function routing(tenants: readonly TenantWithSecrets[], changes: Partial<DefaultDestination> = {}): Routing {
  const find = (tag: string) => Promise.resolve(tenants.find(({ ownerTag }) => ownerTag === tag))
  const identify = (access: InboxAccess) => Promise.resolve({ ...access, key: `key of ${inboxPlace(access)}` })
  const identities = { identify, identifyInTime: identify }
  return new Routing({ tenants: { find }, standard: { ...standard, ...changes }, identities })
}

test('an instance with the tag of a tenant goes there, any other to the default', async () => {
  const routes = routing([acme])
  const [tenant, untagged, unknown] = await Promise.all(
    ['acme', '', 'nobody'].map((ownerTag) => routes.destinationOf({ ownerTag, inboxId: 0 })),
  )
  assert.deepEqual(tenant, {
    key: 'key of https://acme.example|3|7',
    baseUrl: 'https://acme.example',
    apiToken: 'acme-token',
    accountId: 3,
    inboxId: 7,
  })
  assert.equal(untagged?.key, 'key of https://desk.example|1|7')
  assert.deepEqual(unknown, untagged)
})

test('the inbox is the tenant’s, else the instance’s, else the default one', async () => {
  const inboxOf = async (tenantInbox: number, ownInbox: number, standardInbox: number) =>
    (
      await routing([{ ...acme, inboxId: tenantInbox }], { inboxId: standardInbox }).destinationOf({
        ownerTag: 'acme',
        inboxId: ownInbox,
      })
    )?.inboxId
  assert.equal(await inboxOf(5, 6, 7), 5)
  assert.equal(await inboxOf(0, 6, 7), 6)
  assert.equal(await inboxOf(0, 0, 7), 7)
  assert.equal(await inboxOf(0, 0, 0), undefined)
})

test('there is no destination while the default is not configured', async () => {
  const where = { ownerTag: '', inboxId: 1 }
  assert.equal(await routing([], { baseUrl: null }).destinationOf(where), null)
  assert.equal(await routing([], { apiToken: '' }).destinationOf(where), null)
})

test('callbacks are signed with the secret of the tenant, else with the default one', async () => {
  const secretOf = (webhookSecret: string | null) =>
    routing([{ ...acme, webhookSecret }]).webhookSecretOf({ ownerTag: 'acme' })
  assert.equal(await secretOf('own'), 'own')
  assert.equal(await secretOf(null), 'standard-secret')
})
