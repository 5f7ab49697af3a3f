import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ContactPictureStore } from '../../src/storage/stores/people/contact-picture-store.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf } from '../harness/holds.ts'

for (const engine of engines) {
  describe(`merged contacts on ${engine}`, () => {
    test('every row of the contact that goes names the one that stays, and its picture is forgotten', async () => {
      await using opened = await newDatabase(engine)
      await new LeaseStore(opened.database).acquire('me', 60_000)
      const store = new ContactStore(opened.database)
      const pictures = new ContactPictureStore(opened.database)
      const picture = { instance: 'a', pictureId: 'x', thumbnail: 't', fileName: 'f', checkedAt: 1 }
      for (const destination of ['desk', 'other']) {
        await store.saveContact(holdOf('a'), destination, {
          sourceId: 's2',
          contactId: 2,
          ours: true,
          name: 'B',
          givenName: 'B',
        })
        for (const instance of ['a', 'b']) {
          const known = { conversationId: 20, contactId: 2, sourceId: 's2' }
          await store.saveConversation(holdOf('a'), { instance, destination, chat: 'p' }, known, 1)
        }
        for (const contactId of [1, 2]) await pictures.save(holdOf('a'), destination, { contactId, ...picture })
      }
      await store.mergeContacts(holdOf('a'), 'desk', { keep: 1, drop: 2 })
      const [contact] = await store.findContacts('desk', ['s2'])
      assert.deepEqual([contact?.contactId, contact?.ours, contact?.givenName], [1, false, null])
      for (const instance of ['a', 'b']) {
        const known = await store.findConversation({ instance, destination: 'desk', chat: 'p' })
        assert.deepEqual(known, { conversationId: 20, contactId: 1, sourceId: 's2' })
      }
      assert.equal(await pictures.find('desk', 2), undefined)
      assert.equal((await pictures.find('desk', 1))?.pictureId, 'x')
      assert.equal((await store.findContacts('other', ['s2']))[0]?.contactId, 2)
      assert.equal((await pictures.find('other', 2))?.pictureId, 'x')
    })

    test('the conversations of a contact are the current and the earlier ones of its chats, of all instances', async () => {
      await using opened = await newDatabase(engine)
      await new LeaseStore(opened.database).acquire('me', 60_000)
      const store = new ContactStore(opened.database)
      const save = (instance: string, chat: string, conversationId: number, contactId: number) =>
        store.saveConversation(
          holdOf('a'),
          { instance, destination: 'desk', chat },
          { conversationId, contactId, sourceId: 's' },
          conversationId,
        )
      await save('a', 'p', 10, 2)
      await save('a', 'p', 11, 2)
      await save('b', 'q', 12, 2)
      await save('a', 'r', 13, 3)
      assert.deepEqual((await store.conversationsOf('desk', 2)).toSorted(), [10, 11, 12])
      assert.deepEqual(await store.conversationsOf('other', 2), [])
    })
  })
}
