// What is stored of labels: what the network has, and what both sides agreed about.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { LabelAgreementStore } from '../../src/storage/stores/people/label-agreement-store.ts'
import { LabelStore } from '../../src/storage/stores/people/label-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'

const vip = { id: '1', name: 'VIP', title: 'vip' }
const paid = { id: '2', name: 'Paid', title: 'paid' }
const ann = { jid: '5511@s.whatsapp.net', labelId: '1' }
const bob = { jid: '77@lid', labelId: '1' }
const nothing = { labels: [], labelled: [], unlabelled: [], isWhole: false }
const noChats = { chats: [], mark: '', at: 0 }
const agreement = { destination: 'd', conversationId: 7, titles: ['vip'] }

for (const engine of engines) {
  const open = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const labels = new LabelStore(database, (instance) => holdOf(instance, epoch))
    const agreements = new LabelAgreementStore(database, (instance) => holdOf(instance, epoch))
    const owned = stack.move()
    return { database, epoch, labels, agreements, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`labels on ${engine}`, () => {
    test('labels are named, renamed and deleted, for their instance only', async () => {
      await using stage = await open()
      const { labels } = stage
      await labels.update('shop', { ...nothing, labels: [vip, paid] }, noChats)
      await labels.update('shop', { ...nothing, labels: [{ ...vip, title: null }] }, noChats)
      const found = (await labels.labels('shop')).sort((one, other) => one.id.localeCompare(other.id))
      assert.deepEqual(found, [{ ...vip, title: null }, paid])
      assert.deepEqual(await labels.labels('other'), [])
    })

    test('chats are found by address and by label, and a whole list replaces what was there', async () => {
      await using stage = await open()
      const { labels } = stage
      await labels.update(
        'shop',
        { ...nothing, labels: [vip, paid], labelled: [ann, bob, { ...bob, labelId: '2' }] },
        noChats,
      )
      await labels.update('other', { ...nothing, labelled: [ann] }, noChats)
      const jids = (await labels.chatsWith('shop', ['1'])).map(({ jid }) => jid)
      assert.deepEqual(jids.sort(), [ann.jid, bob.jid])
      assert.equal((await labels.labelsOf('shop', [bob.jid])).length, 2)
      await labels.update('shop', { ...nothing, unlabelled: [bob] }, noChats)
      assert.deepEqual(await labels.labelsOf('shop', [bob.jid]), [{ ...bob, labelId: '2' }])
      const many = Array.from({ length: 4500 }, (_, n) => ({ jid: `${n}@lid`, labelId: '1' }))
      await labels.update('shop', { ...nothing, labelled: many, isWhole: true }, noChats)
      assert.equal((await labels.labelledChats('shop')).length, many.length)
      assert.deepEqual(await labels.labelledChats('other'), [ann])
    })

    test('a chat is due until a look at it has ended', async () => {
      await using stage = await open()
      const { agreements } = stage
      const key = { instance: 'shop', chat: 'p1' }
      await agreements.markDue('shop', { chats: ['p1', 'p2'], mark: 'a', at: 1000 })
      assert.deepEqual(await agreements.due('shop', 999, 10), [])
      assert.equal((await agreements.due('shop', 1000, 10)).length, 2)
      await agreements.settle(key, agreement, 'a', null)
      assert.deepEqual(await agreements.find(key), agreement)
      assert.deepEqual(
        (await agreements.due('shop', 1000, 10)).map(({ chat }) => chat),
        ['p2'],
      )
      assert.deepEqual(await agreements.agreedChats('shop'), ['p1'])
    })

    test('a chat that is marked during a look stays due', async () => {
      await using stage = await open()
      const { agreements } = stage
      const key = { instance: 'shop', chat: 'p1' }
      await agreements.markDue('shop', { chats: ['p1'], mark: 'a', at: 1000 })
      await agreements.markDue('shop', { chats: ['p1'], mark: 'b', at: 2000 })
      await agreements.settle(key, agreement, 'a', null)
      assert.deepEqual(await agreements.due('shop', 2000, 10), [{ chat: 'p1', agreement, mark: 'b', attempts: 0 }])
      await agreements.settle(key, agreement, 'b', { at: 9000, attempts: 3 })
      assert.deepEqual(await agreements.due('shop', 8999, 10), [])
      assert.equal(await agreements.nextDueAt('shop'), 9000)
      assert.equal(await agreements.nextDueAt('other'), null)
      assert.deepEqual(await agreements.due('shop', 9000, 10), [{ chat: 'p1', agreement, mark: 'b', attempts: 3 }])
    })

    test('agreements are forgotten with the news of a new link, and only those of the instance', async () => {
      await using stage = await open()
      const { labels, agreements } = stage
      for (const instance of ['shop', 'other']) {
        await agreements.markDue(instance, { chats: ['p1'], mark: 'a', at: 1000 })
        await agreements.settle({ instance, chat: 'p1' }, agreement, 'a', null)
      }
      const due = { chats: ['p1'], mark: 'b', at: 2000, forgetsAgreements: true }
      await labels.update('shop', { ...nothing, isWhole: true }, due)
      const none = { destination: null, conversationId: null, titles: [] }
      assert.deepEqual(await agreements.due('shop', 2000, 10), [
        { chat: 'p1', agreement: none, mark: 'b', attempts: 0 },
      ])
      assert.deepEqual(await agreements.find({ instance: 'other', chat: 'p1' }), agreement)
    })

    test('a look that was put off by a clock that was ahead is due now', async () => {
      await using stage = await open()
      const { agreements, database, epoch } = stage
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('shop')))
      await agreements.markDue('shop', { chats: ['p1'], mark: 'a', at: 1_800_003_600_000 })
      await correctFutureTimes(database, nodeHold(epoch), 1_800_000_000_000)
      assert.equal((await agreements.due('shop', 1_800_000_000_000, 10)).length, 1)
    })
  })
}
