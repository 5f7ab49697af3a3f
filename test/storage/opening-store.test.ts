// Which account opens a conversation with a contact: one at a time.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import { OpeningStore } from '../../src/storage/stores/people/opening-store.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf } from '../harness/holds.ts'

const hold = holdOf('a')
const stale = holdOf('a', 2)
const maria = { sourceId: '55', contactId: 4, ours: true, name: 'Maria' }
const placeOf = (instance: string) => ({ instance, destination: 'd1', sourceId: '55' })

async function openStores(engine: EngineName) {
  const opened = await newDatabase(engine)
  await new LeaseStore(opened.database).acquire('me', 3_600_000)
  const contacts = new ContactStore(opened.database)
  await contacts.saveContact(hold, 'd1', maria)
  return {
    ...{ contacts, openings: new OpeningStore(opened.database), database: opened.database },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

for (const engine of engines) {
  describe(`openings on ${engine}`, () => {
    test('a claim is kept until the account has stored a conversation', async () => {
      await using stores = await openStores(engine)
      const { contacts, openings } = stores
      assert.equal(await openings.find(placeOf('a')), null)
      assert.equal(await openings.claim(hold, placeOf('a'), null, 1000), true)
      await contacts.saveContact(hold, 'd1', { ...maria, name: 'Maria S' })
      assert.deepEqual(await openings.find(placeOf('a')), { since: 1000, by: 'a' })
      const known = { conversationId: 1, contactId: 4, sourceId: '55' }
      await contacts.saveConversation(hold, { instance: 'a', destination: 'd1', chat: 'p1' }, known, 0)
      assert.equal(await openings.find(placeOf('a')), null)
    })

    test('of several accounts that claim at once, one gets the claim', async () => {
      await using stores = await openStores(engine)
      const names = ['a', 'b', 'c', 'd']
      const got = await Promise.all(names.map((name) => stores.openings.claim(hold, placeOf(name), null, 1000)))
      assert.equal(got.filter(Boolean).length, 1)
      assert.equal((await stores.openings.find(placeOf('a')))?.by, names[got.indexOf(true)])
    })

    test('a claim is replaced only by the account that saw exactly this claim', async () => {
      await using stores = await openStores(engine)
      const { openings } = stores
      await openings.claim(hold, placeOf('a'), null, 1000)
      for (const seen of [null, { since: 999, by: 'a' }, { since: 1000, by: 'c' }, { since: 1000, by: null }]) {
        assert.equal(await openings.claim(hold, placeOf('b'), seen, 2000), false)
      }
      assert.equal(await openings.claim(hold, placeOf('b'), { since: 1000, by: 'a' }, 2000), true)
      assert.equal(
        await openings.claim(hold, placeOf('a'), { since: 1000, by: 'a' }, 3000),
        false,
        'a renewal that is late',
      )
      assert.deepEqual(await openings.find(placeOf('a')), { since: 2000, by: 'b' })
    })

    test('an account ends only its own claim', async () => {
      await using stores = await openStores(engine)
      const { contacts, openings } = stores
      await openings.claim(hold, placeOf('a'), null, 1000)
      await openings.release(hold, placeOf('b'))
      const known = { conversationId: 1, contactId: 4, sourceId: '55' }
      await contacts.saveConversation(hold, { instance: 'b', destination: 'd1', chat: 'p1' }, known, 0)
      assert.deepEqual(await openings.find(placeOf('a')), { since: 1000, by: 'a' })
      await openings.release(hold, placeOf('a'))
      assert.equal(await openings.find(placeOf('a')), null)
    })

    test('a claim of a build that did not store the account can be replaced', async () => {
      await using stores = await openStores(engine)
      const { database, openings } = stores
      await database.write(database.query.updateTable('contacts').set({ opening_since: 1000 }))
      const seen = await openings.find(placeOf('a'))
      assert.deepEqual(seen, { since: 1000, by: null })
      assert.equal(await openings.claim(hold, placeOf('a'), null, 2000), false)
      assert.equal(await openings.claim(hold, placeOf('a'), seen, 2000), true)
    })

    test('a process that does not own the accounts any more claims and releases nothing', async () => {
      await using stores = await openStores(engine)
      await assert.rejects(stores.openings.claim(stale, placeOf('a'), null, 1000), { failure: 'expectation' })
      await assert.rejects(stores.openings.release(stale, placeOf('a')), { failure: 'expectation' })
      assert.equal(await stores.openings.find(placeOf('a')), null)
    })

    test('a contact that one account created stays ours when another account found it at the same moment', async () => {
      await using stores = await openStores(engine)
      const { contacts } = stores
      await contacts.saveContact(hold, 'd1', { ...maria, ours: false })
      assert.equal((await contacts.findContacts('d1', ['55']))[0]?.ours, true)
      await contacts.saveContact(hold, 'd1', { ...maria, contactId: 5, ours: false })
      assert.equal((await contacts.findContacts('d1', ['55']))[0]?.ours, false, 'another contact is not ours')
    })
  })
}
