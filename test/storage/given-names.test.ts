// The names that we gave to contacts, and the headers that we wrote.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HeaderStore } from '../../src/storage/stores/messages/header-store.ts'
import { MessageMapStore } from '../../src/storage/stores/messages/message-map-store.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import { PeopleStore } from '../../src/storage/stores/people/people-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import type { Database, EngineName } from '../../src/storage/database.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const owner = { instance: 'a', destination: 'd1', sender: 'p1' }
const maria = { sourceId: '55', contactId: 4, ours: true, name: 'Maria' }

async function openStores(engine: EngineName) {
  const opened = await newDatabase(engine)
  const { database } = opened
  await new LeaseStore(database).acquire('test', 3_600_000)
  return {
    database,
    contacts: new ContactStore(database),
    people: new PeopleStore(database),
    headers: new HeaderStore(database),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** A message of the sender that was claimed at that time and begins with the header. */
async function post(database: Database, at: number, changes: { sender?: string; header?: string | null } = {}) {
  const map = new MessageMapStore(database)
  const { sender = 'p1', header = 'Maria' } = changes
  const id = `${sender}-${at}`
  await map.claim(
    holdOf('a'),
    {
      ...{ ...owner, id, sender, chat: '1@g.us', networkId: `W${at}`, kind: 'message', direction: 'in' },
      networkKey: { chat: '1@g.us', id: `W${at}`, fromMe: false, participant: null },
      ...{ networkAt: 1, content: null, posting: { conversationId: 12, since: at, after: 0 } },
    },
    'related',
  )
  await map.complete(holdOf('a'), id, { conversationId: 12, messageId: at, header }, [])
}

for (const engine of engines) {
  describe(`given names on ${engine}`, () => {
    test('a name that we gave stays known while the contact is the same', async () => {
      await using stores = await openStores(engine)
      const { contacts } = stores
      const known = async () => {
        const [found] = await contacts.findContacts('d1', ['55'])
        return found && [found.name, found.givenName, found.renamingTo]
      }
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, givenName: 'Maria' })
      // The opener finds the contact again, with the name that an agent wrote.
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, name: 'VIP' })
      assert.deepEqual(await known(), ['VIP', 'Maria', null])
      await contacts.beginRename(holdOf('a'), 'd1', 4, { from: 'Maria', to: 'Mary' })
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, name: 'VIP' })
      assert.deepEqual(await known(), ['VIP', 'Maria', 'Mary'])
      await contacts.endRename(holdOf('a'), 'd1', 4, 'Mary')
      assert.deepEqual(await known(), ['Mary', 'Mary', null])
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, contactId: 5, name: 'Another' })
      assert.deepEqual(await known(), ['Another', null, null])
    })

    test('a contact that is merged into another one says nothing of the name of that one', async () => {
      await using stores = await openStores(engine)
      const { contacts } = stores
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, sourceId: 'lid-9', givenName: 'Maria' })
      await contacts.saveContact(holdOf('a'), 'd1', { ...maria, contactId: 7, ours: false, name: 'Maria' })
      await contacts.mergeContacts(holdOf('a'), 'd1', { keep: 7, drop: 4 })
      const found = await contacts.findContacts('d1', ['lid-9', '55'])
      assert.deepEqual(
        found.map(({ contactId, ours, givenName }) => [contactId, ours, givenName]),
        [
          [7, false, null],
          [7, false, null],
        ],
      )
    })

    test('a contact knows the names that each account has for its person', async () => {
      await using stores = await openStores(engine)
      const { contacts, people } = stores
      const person = { phone: '55', lid: null, pushName: 'Maria', savedName: null, formerPhones: [] }
      await people.insert(holdOf('a'), { ...person, id: 'p1', savedName: 'Mum' })
      await people.insert(holdOf('b'), { ...person, id: 'p2' })
      const known = { conversationId: 1, contactId: 4, sourceId: '55' }
      await contacts.saveConversation(holdOf('a'), { instance: 'a', destination: 'd1', chat: 'p1' }, known, 1)
      await contacts.saveConversation(holdOf('a'), { instance: 'b', destination: 'd1', chat: 'p2' }, known, 1)
      await contacts.saveConversation(holdOf('a'), { instance: 'b', destination: 'd2', chat: 'p2' }, known, 1)
      assert.deepEqual(await contacts.peopleOf('d1', 4), [
        { instance: 'a', chat: 'p1', pushName: 'Maria', savedName: 'Mum' },
        { instance: 'b', chat: 'p2', pushName: 'Maria', savedName: null },
      ])
    })

    test('people are read page by page', async () => {
      await using stores = await openStores(engine)
      const person = { lid: null, pushName: null, savedName: null, formerPhones: [] }
      for (const id of ['p3', 'p1', 'p2']) await stores.people.insert(holdOf('a'), { ...person, id, phone: id })
      await stores.people.insert(holdOf('b'), { ...person, id: 'p0', phone: 'p0' })
      assert.deepEqual(await stores.people.page('a', '', 2), ['p1', 'p2'])
      assert.deepEqual(await stores.people.page('a', 'p2', 2), ['p3'])
    })
  })

  describe(`headers on ${engine}`, () => {
    test('the newest headers of a sender are found, up to an age and a number', async () => {
      await using stores = await openStores(engine)
      const { database, headers } = stores
      for (const at of [10, 20, 30, 40]) await post(database, at)
      await post(database, 35, { sender: 'p2' })
      await post(database, 36, { header: null })
      const found = async (since: number, limit: number) =>
        (await headers.find(owner, since, limit)).map(({ messageId }) => messageId)
      assert.deepEqual(await found(0, 10), [40, 30, 20, 10])
      assert.deepEqual(await found(20, 2), [40, 30])
      assert.deepEqual(await found(35, 10), [40])
      assert.deepEqual(await headers.find({ ...owner, destination: 'd2' }, 0, 10), [])
      await headers.update(holdOf('a'), ['p1-30'], 'Mary')
      const shown = (await headers.find(owner, 0, 10)).map(({ header }) => header)
      assert.deepEqual(shown, ['Maria', 'Mary', 'Maria', 'Maria'])
    })

    test('old headers and those beyond the number are forgotten', async () => {
      await using stores = await openStores(engine)
      const { database, headers } = stores
      for (const at of [10, 20, 30, 40, 50]) await post(database, at)
      assert.equal(await headers.prune(nodeHold(), 20, 10), 1)
      assert.equal(await headers.trim(holdOf('a'), owner, 2, 10), 2)
      assert.equal(await headers.trim(holdOf('a'), owner, 2, 10), 0)
      assert.deepEqual(
        (await headers.find(owner, 0, 10)).map(({ messageId }) => messageId),
        [50, 40],
      )
    })
  })
}
