import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleEvent, sampleInstanceColumns, sampleOutboxRow } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'
import type { Stores } from './harness/all-stores.ts'
import { holdOf } from '../harness/holds.ts'

const receive = ({ database, journal }: Stores, instance: string, id: string, receivedAt: number) =>
  database.write(journal.inbox({ id, instance, event: sampleEvent(id), receivedAt }))

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const stores = await openStores(database)
    const names = ['shop', 'market', 'quiet']
    await database.write(
      database.query.insertInto('instances').values(names.map((name) => sampleInstanceColumns(name))),
    )
    const owned = stack.move()
    return { stores, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  test(`the oldest received message of each instance that waits is found on ${engine}`, async () => {
    await using stage = await setUp()
    const { stores } = stage
    assert.deepEqual(await stores.queueAges.received(), new Map())
    await receive(stores, 'shop', 'a1', 1000)
    await receive(stores, 'shop', 'a2', 2000)
    await receive(stores, 'shop', 'a3', 3000)
    await receive(stores, 'market', 'b1', 4000)
    await receive(stores, 'deleted', 'c1', 500)
    await stores.inbox.park(holdOf('shop'), 'a1', 'no')
    await stores.database.write(stores.inbox.awaitFileStep('a2'))
    const oldest = await stores.queueAges.received()
    // A parked message and one that only waits for its file do not wait for the helpdesk.
    assert.deepEqual(Object.fromEntries(oldest), { shop: 3000, market: 4000 })
    await stores.inbox.remove(holdOf('shop'), 'b1')
    assert.deepEqual(Object.fromEntries(await stores.queueAges.received()), { shop: 3000 })
  })

  test(`the oldest outgoing message of each instance that is not sent is found on ${engine}`, async () => {
    await using stage = await setUp()
    const { queueAges, outbox, transitions } = stage.stores
    for (const [id, instance, createdAt] of [
      ['a1', 'shop', 1000],
      ['a2', 'shop', 2000],
      ['b1', 'market', 3000],
    ] as const) {
      await outbox.enqueue(sampleOutboxRow(id, { instance, createdAt }), null)
    }
    assert.deepEqual(Object.fromEntries(await queueAges.outgoing()), { shop: 1000, market: 3000 })
    // A message that is being sent is not sent yet.
    assert.ok(await transitions.claim('shop', 'a1', 5000, [], '5511888880001@s.whatsapp.net'))
    assert.equal((await queueAges.outgoing()).get('shop'), 1000)
    for (const id of ['a1', 'b1']) assert.ok(await transitions.withdraw('shop', id, 'deleted', 6000))
    assert.deepEqual(Object.fromEntries(await queueAges.outgoing()), { shop: 2000 })
  })
}
