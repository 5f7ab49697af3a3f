import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { TenantStore } from '../../src/storage/stores/accounts/tenant-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleTenant } from '../harness/samples.ts'

const { apiToken, webhookSecret, ...openSettings } = sampleTenant

for (const engine of engines) {
  describe(`tenant store on ${engine}`, () => {
    test('a tenant is found with and without its secrets', async () => {
      await using opened = await newDatabase(engine, [Buffer.alloc(32, 1)])
      const tenants = new TenantStore(opened.database)
      const expected = { ownerTag: 'acme', ...openSettings, createdAt: 1000, updatedAt: 1000 }
      assert.deepEqual(await tenants.put('acme', sampleTenant, sampleAudit()), expected)
      assert.deepEqual(await tenants.find('acme'), expected)
      assert.deepEqual(await tenants.findWithSecrets('acme'), { ...expected, apiToken, webhookSecret })
      assert.deepEqual(await tenants.list(), [expected])
      assert.equal(await tenants.count(), 1)
    })

    test('putting again replaces everything but the time of creation', async () => {
      await using opened = await newDatabase(engine)
      const tenants = new TenantStore(opened.database)
      await tenants.put('acme', sampleTenant, sampleAudit({ at: 1000 }))
      await tenants.put(
        'acme',
        { baseUrl: 'http://b', accountId: 1, inboxId: 0, apiToken: 'second', webhookSecret: null },
        sampleAudit({ at: 2000 }),
      )
      assert.deepEqual(await tenants.findWithSecrets('acme'), {
        ownerTag: 'acme',
        baseUrl: 'http://b',
        accountId: 1,
        inboxId: 0,
        createdAt: 1000,
        updatedAt: 2000,
        apiToken: 'second',
        webhookSecret: null,
      })
    })

    test('a patch changes only what it names', async () => {
      await using opened = await newDatabase(engine)
      const tenants = new TenantStore(opened.database)
      await tenants.put('acme', sampleTenant, sampleAudit())
      const patched = await tenants.patch('acme', { webhookSecret: 'rotated' }, sampleAudit({ at: 3000 }))
      assert.deepEqual(patched, await tenants.find('acme'))
      const found = await tenants.findWithSecrets('acme')
      assert.equal(found?.apiToken, apiToken)
      assert.equal(found.webhookSecret, 'rotated')
      assert.equal(found.accountId, 3)
      assert.equal(found.updatedAt, 3000)
    })

    test('patching or removing an unknown tenant writes nothing, no audit entry either', async () => {
      await using opened = await newDatabase(engine)
      const tenants = new TenantStore(opened.database)
      assert.equal(await tenants.patch('nobody', { inboxId: 1 }, sampleAudit()), undefined)
      assert.equal(await tenants.remove('nobody', sampleAudit()), undefined)
      assert.deepEqual(await tenants.list(), [])
      assert.deepEqual(await new AuditStore(opened.database).list({ limit: 10 }), [])
    })

    test('a removed tenant is gone and its removal is on record', async () => {
      await using opened = await newDatabase(engine)
      const tenants = new TenantStore(opened.database)
      await tenants.put('acme', sampleTenant, sampleAudit())
      const removed = await tenants.remove('acme', sampleAudit({ action: 'tenant.delete' }))
      assert.equal(removed?.ownerTag, 'acme')
      assert.equal(await tenants.find('acme'), undefined)
      const actions = (await new AuditStore(opened.database).list({ limit: 10 })).map(({ action }) => action)
      assert.deepEqual(actions, ['tenant.delete', 'tenant.upsert'])
    })
  })
}
