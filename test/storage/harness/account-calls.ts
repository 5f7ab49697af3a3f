// The calls of the stores of accounts and of the ledger.

import type { Delivery } from '../../../src/core/lifecycle/delivery.ts'
import { noUsage } from '../../../src/core/usage.ts'
import { sampleAudit, sampleInstance, sampleTenant } from '../../harness/samples.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'
import type { StoreCall, Stores } from './all-stores.ts'

const ended = { status: 'delivered', attempts: 1, nextAt: 1000, code: 200, error: null } as const
const range = { from: '2026-01-01', to: '2026-02-01' }

const logout = (id: string) => ({ sessionId: id, instance: id, ownerTag: '', askedAt: 1000, networkProxy: null })
const kept = (id: string) => ({
  sessionId: id,
  name: id,
  ownerTag: '',
  jid: 'j',
  keptAt: 1000,
  networkProxy: null,
  linkedAt: null,
})
const keyed = (id: string) => sampleAudit({ key: id })
const added = ({ instances }: Stores, id: string) => instances.insert(holdOf('shop'), sampleInstance(id), sampleAudit())
const delivery = ({ deliveries }: Stores, id: string) => deliveries.insert([sampleDelivery(id)])
const restricted = { until: 9000, struckAt: 1000 }
const fromBackup = ({ database }: Stores) =>
  database.write(database.query.updateTable('lease').set({ backup_at: 1000 }))
const tenant = ({ tenants }: Stores, id: string) => tenants.put(id, sampleTenant, sampleAudit())

export const accountCalls: Readonly<Record<string, StoreCall>> = {
  'RestoredStore.prepare': { kind: 'repeated', given: fromBackup, run: ({ restored }) => restored.prepare(2000) },
  'ClientVersionStore.find': { kind: 'read', run: ({ versions }) => versions.find() },
  'ClientVersionStore.save': {
    kind: 'repeated',
    run: ({ versions }) => versions.save({ newest: '2.3000.2', worked: '2.3000.1', refused: null }),
  },
  'DestinationStore.keyAt': { kind: 'read', run: ({ destinations }, id) => destinations.keyAt(id) },
  'DestinationStore.identify': {
    kind: 'repeated',
    // The second place of one helpdesk inbox: the rows of the place are moved.
    given: ({ destinations }, id) => destinations.identify('first place', id),
    run: ({ destinations }, id) => destinations.identify('second place', id),
  },
  'InstanceStore.list': { kind: 'read', run: ({ instances }) => instances.list() },
  'InstanceStore.find': { kind: 'read', run: ({ instances }, id) => instances.find(id) },
  // The caller finds the record when it is asked again.
  'InstanceStore.insert': { kind: 'counted', run: added },
  'InstanceStore.update': {
    kind: 'repeated',
    given: added,
    run: ({ instances }, id) => {
      const along = { audits: [keyed(id)], deliveries: [sampleDelivery(id)], logouts: [logout(id)] }
      return instances.update(holdOf(id), { state: 'ready' }, along)
    },
  },
  'InstanceStore.put': {
    kind: 'repeated',
    run: ({ instances }, id) =>
      instances.put(holdOf('shop'), sampleInstance(id), { audits: [keyed(id)], deliveries: [sampleDelivery(id)] }),
  },
  // After a failure the caller stores the whole record again.
  'InstanceStore.remove': {
    kind: 'counted',
    given: added,
    run: ({ instances }, id) => instances.remove(holdOf(id), kept(id), sampleAudit()),
  },
  'InstanceStore.keptSessions': { kind: 'read', run: ({ instances }, id) => instances.keptSessions(id) },
  'InstanceStore.giveUpKeptSessions': {
    kind: 'repeated',
    run: ({ instances }, id) => instances.giveUpKeptSessions(holdOf('shop'), [logout(id)]),
  },
  'InstanceStore.dropOrphans': {
    kind: 'repeated',
    given: ({ keys }, id) => keys.save(holdOf('shop'), id, [{ kind: 'creds', id: 'x', value: Buffer.of(1) }]),
    run: ({ instances }) => instances.dropOrphans(nodeHold(), 5000),
  },
  'PendingLogoutStore.listOf': { kind: 'read', run: ({ logouts }) => logouts.listOf('shop') },
  'PendingLogoutStore.listOfDeleted': { kind: 'read', run: ({ logouts }) => logouts.listOfDeleted() },
  'PendingLogoutStore.list': { kind: 'read', run: ({ logouts }) => logouts.list() },
  'PendingLogoutStore.claim': {
    kind: 'repeated',
    given: ({ instances }, id) => instances.giveUpKeptSessions(holdOf('shop'), [logout(id)]),
    run: ({ logouts }, id) => logouts.claim(nodeHold(), id),
  },
  'PendingLogoutStore.release': {
    kind: 'repeated',
    given: async ({ instances, logouts }, id) => {
      await instances.giveUpKeptSessions(holdOf('shop'), [logout(id)])
      await logouts.claim(nodeHold(), id)
    },
    run: ({ logouts }, id) => logouts.release(nodeHold(), id),
  },
  'PendingLogoutStore.remove': {
    kind: 'repeated',
    given: ({ instances }, id) => instances.giveUpKeptSessions(holdOf('shop'), [logout(id)]),
    run: ({ logouts }, id) => logouts.remove(nodeHold(), id, [keyed(id)]),
  },
  'RestrictionStore.find': { kind: 'read', run: ({ restrictions }, id) => restrictions.find(id) },
  'RestrictionStore.save': { kind: 'repeated', run: ({ restrictions }, id) => restrictions.save(id, restricted) },
  'SessionKeyStore.load': { kind: 'read', run: ({ keys }, id) => keys.load(id, 'kind', ['x']) },
  'SessionKeyStore.idsOf': { kind: 'read', run: ({ keys }, id) => keys.idsOf(id, 'kind') },
  'SessionKeyStore.save': {
    kind: 'repeated',
    run: ({ keys }, id) =>
      keys.save(holdOf('shop'), id, [
        { kind: 'kind', id: 'x', value: Buffer.of(1) },
        { kind: 'kind', id: 'y', value: null },
      ]),
  },
  'SessionKeyStore.dropSession': {
    kind: 'repeated',
    given: ({ keys }, id) => keys.save(holdOf('shop'), id, [{ kind: 'kind', id: 'x', value: Buffer.of(1) }]),
    run: ({ keys }, id) => keys.dropSession(holdOf('shop'), id),
  },
  'TenantStore.list': { kind: 'read', run: ({ tenants }) => tenants.list() },
  'TenantStore.find': { kind: 'read', run: ({ tenants }, id) => tenants.find(id) },
  'TenantStore.findWithSecrets': { kind: 'read', run: ({ tenants }, id) => tenants.findWithSecrets(id) },
  'TenantStore.count': { kind: 'read', run: ({ tenants }) => tenants.count() },
  // Each request has an entry in the audit log.
  'TenantStore.put': { kind: 'counted', run: tenant },
  'TenantStore.patch': {
    kind: 'counted',
    given: tenant,
    run: ({ tenants }, id) => tenants.patch(id, { inboxId: 9 }, sampleAudit()),
  },
  'TenantStore.remove': {
    kind: 'repeated',
    given: tenant,
    run: ({ tenants }, id) => tenants.remove(id, sampleAudit()),
  },
  'WebhookSecretStore.find': { kind: 'read', run: ({ webhookSecrets }, id) => webhookSecrets.find(id) },
  'WebhookSecretStore.findElsewhere': {
    kind: 'read',
    run: ({ webhookSecrets }, id) => webhookSecrets.findElsewhere(id),
  },
  'WebhookSecretStore.put': { kind: 'repeated', run: ({ webhookSecrets }, id) => webhookSecrets.put(id, 'secret') },
  'WebhookSecretStore.remove': {
    kind: 'repeated',
    given: ({ webhookSecrets }, id) => webhookSecrets.put(id, 'secret'),
    run: ({ webhookSecrets }, id) => webhookSecrets.remove(id),
  },
  // Each call gives the lease a new epoch or a new end. A process that lost the answer finds its own name and asks again.
  'LeaseStore.acquire': { kind: 'counted', run: ({ leases }) => leases.acquire('other', 1000) },
  'LeaseStore.renew': { kind: 'counted', run: ({ leases }) => leases.renew('test', 1, 3_600_000) },
  'LeaseStore.release': { kind: 'counted', run: ({ leases }) => leases.release('other', 1) },
  // A process that lost the answer finds the lease retired.
  'LeaseStore.retire': { kind: 'counted', run: ({ leases }) => leases.retire() },
  'LeaseStore.holder': { kind: 'read', run: ({ leases }) => leases.holder() },
  'AuditStore.append': { kind: 'repeated', run: ({ audit }, id) => audit.append(keyed(id)) },
  'AuditStore.listByKey': { kind: 'read', run: ({ audit }, id) => audit.listByKey('shop', id) },
  'AuditStore.list': {
    kind: 'read',
    run: ({ audit }) => audit.list({ limit: 10, instance: 'shop', ownerTag: 'acme' }),
  },
  'DeliveryStore.insert': { kind: 'repeated', run: delivery },
  'DeliveryStore.pending': { kind: 'read', run: ({ deliveries }) => deliveries.pending('all') },
  'DeliveryStore.pendingOf': { kind: 'read', run: ({ deliveries }) => deliveries.pendingOf('shop') },
  'DeliveryStore.pendingOfDeleted': { kind: 'read', run: ({ deliveries }) => deliveries.pendingOfDeleted() },
  'DeliveryStore.exhaustedSince': { kind: 'read', run: ({ deliveries }) => deliveries.exhaustedSince(0, 10, 'all') },
  'DeliveryStore.record': {
    kind: 'repeated',
    given: delivery,
    run: ({ deliveries }, id) => deliveries.record(id, ended, 2000),
  },
  'DeliveryStore.list': { kind: 'read', run: ({ deliveries }) => deliveries.list('shop', 10) },
  'DeliveryStore.reopen': {
    kind: 'repeated',
    given: async (stores, id) => {
      await delivery(stores, id)
      await stores.deliveries.record(id, ended, 2000)
    },
    run: ({ deliveries }, id) => deliveries.reopen('shop', id, 3000),
  },
  'DeliveryStore.findPending': { kind: 'read', run: ({ deliveries }, id) => deliveries.findPending('shop', id) },
  'DeliveryStore.prune': {
    kind: 'repeated',
    given: async (stores, id) => {
      await delivery(stores, id)
      await stores.deliveries.record(id, ended, 2000)
    },
    run: ({ deliveries }) => deliveries.prune(5000),
  },
  'UsageStore.add': {
    kind: 'repeated',
    run: ({ usage }, id) =>
      usage.add({
        id,
        at: 1000,
        rows: [{ ...noUsage, instance: 'shop', day: '2026-01-02', ownerTag: '', messages_in: 1 }],
      }),
  },
  'UsageStore.daily': { kind: 'read', run: ({ usage }) => usage.daily(range, 'shop') },
  'UsageStore.monthly': { kind: 'read', run: ({ usage }) => usage.monthly({ from: '2026-01', to: '2026-02' }) },
  'UsageStore.totals': { kind: 'read', run: ({ usage }) => usage.totals() },
}

function sampleDelivery(id: string): Delivery {
  return {
    id,
    eventId: id,
    event: 'paired',
    instance: 'shop',
    url: 'https://one.example',
    body: '{}',
    createdAt: 1000,
    expiresAt: null,
    attempts: 0,
    nextAt: 1000,
  }
}
