import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DestinationStore } from '../../src/storage/stores/accounts/destination-store.ts'
import { WebhookSecretStore } from '../../src/storage/stores/accounts/webhook-secret-store.ts'
import { noteKeys, refuseUnreadableSecrets } from '../../src/storage/stores/key-check.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase, newLocation } from '../harness/databases.ts'
import { openOwnDatabase } from '../harness/lease-holds.ts'
import { holds, nodeHold } from '../harness/holds.ts'

const key = Buffer.alloc(32, 1)
const otherKey = Buffer.alloc(32, 2)

for (const engine of engines) {
  describe(`the secrets of destinations on ${engine}`, () => {
    test('a secret is found, replaced and removed; other destinations keep theirs', async () => {
      await using opened = await newDatabase(engine)
      await new LeaseStore(opened.database).acquire('me', 60_000)
      const store = new WebhookSecretStore(opened.database, holds.nodeHold)
      assert.equal(await store.find('here'), undefined)
      await store.put('here', 'one')
      await store.put('there', 'other')
      await store.put('here', 'two')
      assert.deepEqual([await store.find('here'), await store.find('there')], ['two', 'other'])
      await store.remove('here')
      await store.remove('here')
      assert.deepEqual([await store.find('here'), await store.find('there')], [undefined, 'other'])
    })

    test('a place without an identified inbox has the secrets of inboxes with the same ids at other addresses', async () => {
      await using opened = await newDatabase(engine)
      await new LeaseStore(opened.database).acquire('me', 60_000)
      const store = new WebhookSecretStore(opened.database, holds.nodeHold)
      const old = 'https://old.example'
      for (const place of [`${old}|1|7`, `${old}|1|7|other`, `${old}|1|17`, `${old}|11|7`, `${old}|1|70`]) {
        await store.put(place, `of ${place}`)
      }
      const here = 'https://new.example|1|7'
      assert.deepEqual((await store.findElsewhere(here)).sort(), [`of ${old}|1|7`, `of ${old}|1|7|other`])
      await new DestinationStore(opened.database, holds.nodeHold).identify(
        here,
        'identifier of an inbox that signs nothing',
      )
      assert.deepEqual(await store.findElsewhere(here), [])
    })

    test('a secret is encrypted on disk, and can be opened after its destination got another key', async () => {
      await using place = await newLocation(engine)
      await using database = await openOwnDatabase(place.location, [key])
      await new LeaseStore(database).acquire('me', 60_000)
      const store = new WebhookSecretStore(database, holds.nodeHold)
      const destinations = new DestinationStore(database, holds.nodeHold)
      await destinations.identify('first place', 'identifier')
      await store.put('second place', 'canary-secret')
      const raw = await database.read(database.query.selectFrom('webhook_secrets').selectAll())
      assert.doesNotMatch(JSON.stringify(raw.map(({ secret }) => Buffer.from(secret).toString('latin1'))), /canary/)
      await destinations.identify('second place', 'identifier')
      assert.deepEqual(
        [await store.find('first place'), await store.find('second place')],
        ['canary-secret', undefined],
      )
    })

    test('the boot is refused when no key opens a secret, and an added key leaves it readable', async () => {
      await using place = await newLocation(engine)
      const withKeys = async (keys: Buffer[], work: (store: WebhookSecretStore) => Promise<unknown>) => {
        await using database = await openOwnDatabase(place.location, keys)
        await refuseUnreadableSecrets(database, keys)
        const leases = new LeaseStore(database)
        const held = (await leases.acquire('test', 60_000)) ?? assert.fail('the lease is taken')
        await noteKeys(database, nodeHold(held), keys)
        await work(new WebhookSecretStore(database, () => nodeHold(held)))
        await leases.release('test', held)
      }
      await withKeys([key], (store) => store.put('here', 'secret'))
      await withKeys([otherKey, key], async (store) => {
        assert.equal(await store.find('here'), 'secret')
      })
      await assert.rejects(
        withKeys([otherKey], () => Promise.resolve()),
        /SERVICE_ENCRYPTION_KEY does not open what is stored in webhook_secrets\.secret/,
      )
    })
  })
}
