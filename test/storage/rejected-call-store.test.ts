// Who is due a text after a rejected call, and what the stored calls become after a wrong clock, a backup and a month.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Person } from '../../src/core/address.ts'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { RejectedCallStore } from '../../src/storage/stores/messages/rejected-call-store.ts'
import { RestoredStore } from '../../src/storage/stores/restored-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const hour = 3_600_000
const now = 1_800_000_000_000
const maria: Person = { phone: '5511988887777', lid: '300000000000001' }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
    const store = new RejectedCallStore(
      database,
      (instance) => holdOf(instance, epoch),
      () => nodeHold(epoch),
    )
    const reject = async (callId: string, at: number, caller = maria, instance = 'shop') => {
      await store.claim({ instance, callId }, caller, at)
      await store.confirm({ instance, callId }, { at, textOnceInMs: hour })
    }
    const due = async () => (await store.dueTexts(100, 'all')).map(({ callId }) => callId)
    const owned = stack.move()
    return { database, epoch, store, reject, due, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`rejected calls on ${engine}`, () => {
    test('one text is due within an hour, by the phone number or the LID, for each instance', async () => {
      await using stage = await setUp()
      const { reject, due } = stage
      await reject('first', now)
      await reject('by phone', now + 1, { phone: maria.phone, lid: null })
      await reject('by lid', now + hour - 1, { phone: null, lid: maria.lid })
      await reject('other person', now + 2, { phone: '5511988886666', lid: null })
      await reject('other instance', now + 3, maria, 'branch')
      await reject('after the hour', now + hour)
      assert.deepEqual(await due(), ['first', 'other person', 'other instance', 'after the hour'])
    })

    test('rejections of one person that are stored at the same time bring one text', async () => {
      await using stage = await setUp()
      const { store, due } = stage
      const calls = Array.from({ length: 20 }, (_, n) => ({ instance: 'shop', callId: `call ${n}` }))
      await Promise.all(calls.map((call) => store.claim(call, maria, now)))
      await Promise.all(calls.map((call) => store.confirm(call, { at: now, textOnceInMs: hour })))
      assert.equal((await due()).length, 1)
    })

    test('a text that was dropped does not count, one that was given does', async () => {
      await using stage = await setUp()
      const { store, reject, due } = stage
      await reject('first', now)
      await store.settleText({ instance: 'shop', callId: 'first' }, 'dropped')
      await reject('second', now + 1)
      await store.settleText({ instance: 'shop', callId: 'second' }, 'given')
      await reject('third', now + 2)
      assert.deepEqual(await due(), [])
      assert.equal(await store.outcomeOf({ instance: 'shop', callId: 'third' }), 'rejected')
    })

    test('without a text none is due', async () => {
      await using stage = await setUp()
      const { store, due } = stage
      const call = { instance: 'shop', callId: 'quiet' }
      await store.claim(call, maria, now)
      assert.equal(await store.outcomeOf(call), 'unconfirmed')
      await store.confirm(call, { at: now, textOnceInMs: null })
      assert.deepEqual([await store.outcomeOf(call), await due()], ['rejected', []])
    })

    test('a call that was over leaves nothing behind, a rejected one stays', async () => {
      await using stage = await setUp()
      const { store, reject } = stage
      await store.claim({ instance: 'shop', callId: 'over' }, maria, now)
      await store.unclaim({ instance: 'shop', callId: 'over' })
      await reject('rejected', now)
      await store.unclaim({ instance: 'shop', callId: 'rejected' })
      assert.equal(await store.outcomeOf({ instance: 'shop', callId: 'over' }), undefined)
      assert.equal(await store.outcomeOf({ instance: 'shop', callId: 'rejected' }), 'rejected')
    })

    test('a rejection that was stored while the clock was ahead counts as now', async () => {
      await using stage = await setUp()
      const { database, epoch, store, reject, due } = stage
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('shop')))
      await reject('ahead', now + 48 * hour)
      await store.settleText({ instance: 'shop', callId: 'ahead' }, 'given')
      await correctFutureTimes(database, nodeHold(epoch), now)
      await reject('within the hour', now + hour - 1)
      await reject('after the hour', now + hour)
      assert.deepEqual(await due(), ['after the hour'])
    })

    test('a text that is due in a backup is not sent', async () => {
      await using stage = await setUp()
      const { database, reject, due } = stage
      await reject('first', now)
      await database.write(database.query.updateTable('lease').set({ backup_at: now }))
      await new RestoredStore(database).prepare(now + hour)
      assert.deepEqual(await due(), [])
    })

    test('old calls are removed', async () => {
      await using stage = await setUp()
      const { store, reject } = stage
      await reject('old', now - 1)
      await reject('new', now)
      await store.prune(now)
      assert.equal(await store.outcomeOf({ instance: 'shop', callId: 'old' }), undefined)
      assert.equal(await store.outcomeOf({ instance: 'shop', callId: 'new' }), 'rejected')
    })
  })
}
