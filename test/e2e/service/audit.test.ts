import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AuditStore } from '../../../src/storage/stores/ledger/audit-store.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { sampleAudit } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { packageVersion } from '../../harness/package-version.ts'

type Entries = { entries: { id: number; action: string; instance: string }[] }

for (const engine of drawnEngines(import.meta.url)) {
  describe(`audit endpoint on ${engine}`, () => {
    test('starts with the boot and filters by instance and owner tag', async () => {
      await using service = await Service.start({ engine })
      const entriesOf = async (query: string) => ((await service.get(`/api/audit${query}`)).body as Entries).entries
      const [boot] = await entriesOf('')
      assert.deepEqual(
        { ...boot, id: 0, ts: '' },
        { id: 0, ts: '', actor: 'system', action: 'backend.boot', instance: '', target: packageVersion, metadata: {} },
      )
      const audit = new AuditStore(service.database)
      await audit.append(sampleAudit({ action: 'instance.create', instance: 'a', ownerTag: 'x' }))
      await audit.append(sampleAudit({ action: 'instance.patch', instance: 'a', ownerTag: 'y' }))
      await audit.append(sampleAudit({ action: 'instance.create', instance: 'b', ownerTag: 'x' }))
      const actions = async (query: string) =>
        (await entriesOf(query)).map(({ action, instance }) => `${action} ${instance}`)
      assert.deepEqual(await actions('?instance=a'), ['instance.patch a', 'instance.create a'])
      assert.deepEqual(await actions('?owner_tag=x'), ['instance.create b', 'instance.create a'])
      assert.deepEqual(await actions('?owner_tag=x&instance=b'), ['instance.create b'])
      assert.deepEqual(await actions('?instance=nobody'), [])
      assert.deepEqual(await actions('?owner_tag=a%20b%2f%3a'), [])
    })

    test('a limit that is no number of at least 1 and a filter that is no name are refused', async () => {
      await using service = await Service.start({ engine })
      for (const limit of ['junk', '0', '-1', '1.5', '1e3', '', '%00', '1&limit=2', '99999999999999999999']) {
        assertRefused(await service.get(`/api/audit?limit=${limit}`), 'SERVICE_BAD_REQUEST', /limit/)
      }
      for (const name of ['%00', 'a%00', '', 'a%0a', '../x', 'x'.repeat(65), 'a&instance=b']) {
        assertRefused(await service.get(`/api/audit?instance=${name}`), 'SERVICE_BAD_REQUEST', /instance/)
      }
      for (const tag of ['%00', 'a%00', '', 'a%0a', 'x'.repeat(129), 'a&owner_tag=b']) {
        assertRefused(await service.get(`/api/audit?owner_tag=${tag}`), 'SERVICE_BAD_REQUEST', /owner_tag/)
      }
    })
  })
}

test('the limit is 100 unless stated and 500 at most', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      const audit = new AuditStore(database)
      await Promise.all(Array.from({ length: 520 }, () => audit.append(sampleAudit())))
    },
  })
  const count = async (query: string) => ((await service.get(`/api/audit${query}`)).body as Entries).entries.length
  assert.equal(await count(''), 100)
  assert.equal(await count('?limit=7'), 7)
  assert.equal(await count('?limit=500'), 500)
  assert.equal(await count('?limit=501'), 500)
  assert.equal(await count('?limit=999999999'), 500)
})

test('no route changes an entry', async () => {
  await using service = await Service.start()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assertRefused(await service.request(method, '/api/audit'), 'SERVICE_METHOD_NOT_ALLOWED')
  }
})
