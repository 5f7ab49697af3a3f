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

type Stored = Record<string, string>

/** `stored` are the secrets of the destinations by their keys. */
function routing(
  tenants: readonly TenantWithSecrets[],
  changes: Partial<DefaultDestination> = {},
  stored: Stored = {},
  isUnidentified = false,
): Routing {
  const find = (tag: string) => Promise.resolve(tenants.find(({ ownerTag }) => ownerTag === tag))
  const identify = (access: InboxAccess) => Promise.resolve({ ...access, key: `key of ${inboxPlace(access)}` })
  const identifyInTime = async (access: InboxAccess) => ({
    ...(await identify(access)),
    ...(isUnidentified && { isUnidentified }),
  })
  const lastKeyOf = (access: InboxAccess) => Promise.resolve(`last key of ${inboxPlace(access)}`)
  const identities = { identify, identifyInTime, lastKeyOf }
  const secrets = {
    find: (key: string) => Promise.resolve(stored[key]),
    findElsewhere: (place: string) => Promise.resolve(stored[`elsewhere than ${place}`]?.split(' ') ?? []),
  }
  return new Routing({ tenants: { find }, standard: { ...standard, ...changes }, identities, secrets })
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

test('a helpdesk is known also while no inbox is set', async () => {
  const found = await routing([acme], { inboxId: 0 }).accountOf({ ownerTag: 'acme', inboxId: 6 })
  assert.deepEqual(found, {
    account: { baseUrl: 'https://acme.example', apiToken: 'acme-token', accountId: 3 },
    isStandard: false,
    inboxes: { tenant: 0, instance: 6, standard: 0 },
  })
  const same = { ...acme, baseUrl: 'https://desk.example/', accountId: 1 }
  assert.equal((await routing([same]).accountOf({ ownerTag: 'acme', inboxId: 6 }))?.isStandard, true)
  assert.equal(await routing([], { baseUrl: null }).accountOf({ ownerTag: '', inboxId: 6 }), null)
})

test('callbacks may be signed with the secret of the destination, of the tenant and of the service', async () => {
  const here = 'key of https://acme.example|3|7'
  const secretsOf = (own: string | null, stored: Stored, webhookSecret = 'standard-secret') =>
    routing([{ ...acme, webhookSecret: own }], { webhookSecret }, stored).webhookSecretsOf({
      ownerTag: 'acme',
      inboxId: 0,
    })
  assert.deepEqual(await secretsOf('own', { [here]: 'stored' }), ['stored', 'own', 'standard-secret'])
  assert.deepEqual(await secretsOf(null, { 'key of https://acme.example|3|8': 'other' }), ['standard-secret'])
  assert.deepEqual(await secretsOf('same', { [here]: 'same' }, ''), ['same'])
  assert.deepEqual(await secretsOf(null, {}, ''), [])
})

test('callbacks of an inbox that cannot be identified may be signed with the secrets it may have at another address', async () => {
  const place = 'https://desk.example|1|7'
  const stored = { [`elsewhere than ${place}`]: 'one two' }
  const secretsOf = (isUnidentified: boolean, more: Stored = {}) =>
    routing([], { webhookSecret: '' }, { ...stored, ...more }, isUnidentified).webhookSecretsOf({
      ownerTag: '',
      inboxId: 0,
    })
  assert.deepEqual(await secretsOf(true), ['one', 'two'])
  assert.deepEqual(await secretsOf(true, { [`key of ${place}`]: 'own' }), ['own'])
  assert.deepEqual(await secretsOf(false), [])
})

test('callbacks to an unknown instance are signed with the secret of the service', async () => {
  const stored = { 'key of https://desk.example|1|7': 'stored' }
  assert.deepEqual(await routing([], {}, stored).webhookSecretsOf(undefined), ['standard-secret'])
})

test('the secrets of the tenant and of the service are known before the helpdesk inbox is identified', async () => {
  const stored = { 'key of https://acme.example|3|7': 'stored' }
  const routes = routing([{ ...acme, webhookSecret: 'own' }], {}, stored)
  assert.deepEqual(await routes.configuredSecretsOf({ ownerTag: 'acme', inboxId: 0 }), ['own', 'standard-secret'])
  assert.deepEqual(await routes.configuredSecretsOf(undefined), ['standard-secret'])
})

test('which secrets are stored is known without asking the helpdesk', async () => {
  const stored = { 'last key of https://desk.example|1|7': 'stored' }
  const route = { ownerTag: '', inboxId: 0 }
  assert.deepEqual(await routing([], {}, stored).storedSecretsOf(route), ['stored', 'standard-secret'])
  assert.deepEqual(await routing([], { baseUrl: null, webhookSecret: '' }, stored).storedSecretsOf(route), [])
})
