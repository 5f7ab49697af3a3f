import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ClientVersionStore } from '../../src/storage/stores/accounts/client-version-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { nodeHold } from '../harness/holds.ts'

for (const engine of engines) {
  describe(`the stored client version on ${engine}`, () => {
    test('is read as it was saved, and a later save replaces it', async () => {
      await using place = await newDatabase(engine)
      const epoch = (await new LeaseStore(place.database).acquire('test', 600_000)) ?? 0
      const store = new ClientVersionStore(place.database, () => nodeHold(epoch))
      assert.equal(await store.find(), undefined)
      const first = { newest: '2.3000.2', worked: null, refused: '2.3000.2' }
      await store.save(first)
      assert.deepEqual(await store.find(), first)
      const second = { newest: '2.3000.3', worked: '2.3000.1', refused: null }
      await store.save(second)
      assert.deepEqual(await store.find(), second)
    })

    test('is not written by a process that has lost the accounts', async () => {
      await using place = await newDatabase(engine)
      await new LeaseStore(place.database).acquire('test', 600_000)
      const store = new ClientVersionStore(place.database, () => nodeHold(0))
      await assert.rejects(store.save({ newest: '2.3000.2', worked: null, refused: null }))
      assert.equal(await store.find(), undefined)
    })
  })
}
