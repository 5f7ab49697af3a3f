// What is stored of the pictures of contacts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StorageError } from '../../src/storage/engine/statement.ts'
import { ContactPictureStore } from '../../src/storage/stores/people/contact-picture-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf } from '../harness/holds.ts'

const picture = {
  contactId: 3,
  instance: 'shop',
  pictureId: '7',
  thumbnail: 'https://desk/a.jpg',
  fileName: 'a.jpg',
  checkedAt: 1_700_000_000_000,
}

for (const engine of engines) {
  describe(`pictures of contacts on ${engine}`, () => {
    test('a picture is found, replaced and dropped, for its destination only', async () => {
      await using opened = await newDatabase(engine)
      const epoch = (await new LeaseStore(opened.database).acquire('test', 60_000)) ?? 0
      const store = new ContactPictureStore(opened.database)
      assert.equal(await store.find('d', 3), undefined)
      await store.save(holdOf('shop', epoch), 'd', picture)
      assert.deepEqual(await store.find('d', 3), picture)
      assert.equal(await store.find('other', 3), undefined)
      const none = { ...picture, pictureId: null, thumbnail: null, fileName: null, instance: 'b' }
      await store.save(holdOf('shop', epoch), 'd', none)
      assert.deepEqual(await store.find('d', 3), none)
      await store.drop(holdOf('shop', epoch), 'd', 3)
      assert.equal(await store.find('d', 3), undefined)
    })

    test('a process that lost the lease stores nothing', async () => {
      await using opened = await newDatabase(engine)
      const epoch = (await new LeaseStore(opened.database).acquire('test', 60_000)) ?? 0
      const store = new ContactPictureStore(opened.database)
      await assert.rejects(store.save(holdOf('shop', epoch - 1), 'd', picture), StorageError)
      assert.equal(await store.find('d', 3), undefined)
    })
  })
}
