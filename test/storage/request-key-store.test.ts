// The keys of direct messages, and the rows that settle them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { requestKeyLifetimeMs } from '../../src/storage/stores/messages/settled-callbacks.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleOutboxRow } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'

const asked = (requestKey: string, instance = 'shop') => ({ instance, requestKey, fingerprint: 'asked' })
const payload = { type: 'direct', content: { type: 'text', text: 'hello' }, quote: null } as const
const direct = (id: string, createdAt = 1000) =>
  sampleOutboxRow(id, { kind: 'direct', conversationId: null, createdAt, payload })

for (const engine of engines) {
  const setUp = async () => {
    const opened = await newDatabase(engine)
    const stores = await openStores(opened.database)
    return { ...stores, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
  }

  describe(`keys of requests on ${engine}`, () => {
    test('one key of an instance has one row, and other instances have their own keys', async () => {
      await using stores = await setUp()
      const { outbox, requests } = stores
      assert.equal(await outbox.enqueue(direct('one'), asked('a')), 'accepted')
      assert.equal(await outbox.enqueue(direct('two'), asked('a')), 'duplicate')
      assert.equal(await outbox.find('two'), undefined)
      assert.equal(await outbox.enqueue(direct('three'), asked('a', 'other')), 'accepted')
      assert.deepEqual(
        [(await requests.find('shop', 'a', 1000))?.rowId, (await requests.find('other', 'a', 1000))?.rowId],
        ['one', 'three'],
      )
    })

    test('after a day the key is free for another row', async () => {
      await using stores = await setUp()
      const { outbox, requests } = stores
      const later = 1000 + requestKeyLifetimeMs
      await outbox.enqueue(direct('one'), asked('a'))
      assert.equal(await outbox.enqueue(direct('two', later - 1), asked('a')), 'duplicate')
      assert.equal(await requests.find('shop', 'a', later), undefined)
      assert.equal(await outbox.enqueue(direct('three', later), asked('a')), 'accepted')
      assert.equal((await requests.find('shop', 'a', later))?.rowId, 'three')
    })

    test('a refused message keeps its key, and a withdrawn one gives it back without a look', async () => {
      await using stores = await setUp()
      const { outbox, requests, transitions } = stores
      await outbox.keepRefused(direct('one'), { reason: 'no', lookAt: 2000 }, asked('a'))
      assert.deepEqual((await outbox.settledBy(asked('a')))?.status, 'refused')
      await outbox.enqueue(direct('two'), asked('b'))
      assert.equal(await transitions.withdraw('shop', 'two', 'too late', 1500), true)
      assert.equal(await requests.find('shop', 'b', 1500), undefined)
      const rows = [await outbox.find('one'), await outbox.find('two')]
      assert.deepEqual(
        rows.map((row) => [row?.status, row?.lookAt]),
        [
          ['refused', null],
          ['refused', null],
        ],
      )
    })
  })
}
