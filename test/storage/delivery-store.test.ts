import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { Delivery, DeliveryResult } from '../../src/core/lifecycle/delivery.ts'
import { DeliveryStore } from '../../src/storage/stores/ledger/delivery-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'

function sample(id: string, changes: Partial<Delivery> = {}): Delivery {
  const fixed = { eventId: `event-${id}`, event: 'paired', instance: 'a', url: 'https://one.example/hook' } as const
  return { id, ...fixed, body: `{"id":"${id}"}`, createdAt: 1, expiresAt: null, attempts: 0, nextAt: 1, ...changes }
}

const delivered: DeliveryResult = { status: 'delivered', attempts: 1, nextAt: 5, code: 200, error: null }
const again: DeliveryResult = { status: 'pending', attempts: 1, nextAt: 5000, code: 503, error: 'busy' }

for (const engine of engines) {
  describe(`delivery store on ${engine}`, () => {
    test('a waiting delivery is found again as it was, oldest first', async () => {
      await using opened = await newDatabase(engine, [Buffer.alloc(32, 1)])
      const store = new DeliveryStore(opened.database)
      const [first, second] = [sample('1'), sample('2', { expiresAt: 20_000, event: 'qr_generated' })]
      await store.insert([second, first])
      await store.insert([])
      assert.deepEqual(await store.pendingOf('a'), [first, second])
    })

    test('a read returns the deliveries of all instances, of one instance, or of the deleted instances', async () => {
      await using opened = await newDatabase(engine)
      const store = new DeliveryStore(opened.database)
      await opened.database.write(opened.database.query.insertInto('instances').values(sampleInstanceColumns('a')))
      await store.insert([sample('1'), sample('2', { instance: 'gone' })])
      assert.deepEqual(await store.pendingOf('a'), [sample('1')])
      assert.deepEqual(await store.pending('all'), [sample('1'), sample('2', { instance: 'gone' })])
      assert.deepEqual(await store.pendingOfDeleted(), [sample('2', { instance: 'gone' })])
    })

    test('an attempt changes a waiting delivery; a delivery that has ended is not changed any more', async () => {
      await using opened = await newDatabase(engine)
      const store = new DeliveryStore(opened.database)
      await store.insert([sample('1'), sample('2')])
      await store.record('1', again, 100)
      assert.deepEqual(
        (await store.pendingOf('a')).map(({ id, attempts, nextAt }) => ({ id, attempts, nextAt })),
        [
          { id: '1', attempts: 1, nextAt: 5000 },
          { id: '2', attempts: 0, nextAt: 1 },
        ],
      )
      await store.record('1', delivered, 200)
      await store.record('1', again, 300)
      const [newest, oldest] = await store.list('a', 100)
      assert.equal(newest?.id, '2')
      assert.deepEqual(
        [oldest?.status, oldest?.lastCode, oldest?.lastError, oldest?.finishedAt],
        ['delivered', 200, null, 200],
      )
    })

    test('deliveries that were given up are found by their end, except those with an expiry or of deleted instances', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const store = new DeliveryStore(database)
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
      await store.insert([sample('1'), sample('2'), sample('3', { expiresAt: 20_000 }), sample('4'), sample('5')])
      await store.insert([sample('6', { instance: 'deleted' }), sample('7')])
      const exhausted: DeliveryResult = { ...again, status: 'exhausted' }
      await store.record('1', exhausted, 100)
      await store.record('2', exhausted, 300)
      await store.record('3', exhausted, 300)
      await store.record('4', delivered, 300)
      await store.record('5', exhausted, 200)
      await store.record('6', exhausted, 300)
      await store.record('7', { ...again, status: 'dropped' }, 400)
      assert.deepEqual(await store.exhaustedSince(100, 10, 'all'), [
        { id: '5', instance: 'a', finishedAt: 200 },
        { id: '2', instance: 'a', finishedAt: 300 },
        { id: '7', instance: 'a', finishedAt: 400 },
      ])
      assert.equal((await store.exhaustedSince(100, 1, 'all')).length, 1)
    })

    test('an instance sees its own newest deliveries, up to the limit', async () => {
      await using opened = await newDatabase(engine)
      const store = new DeliveryStore(opened.database)
      await store.insert([sample('1'), sample('2'), sample('3'), sample('4', { instance: 'b' })])
      assert.deepEqual(
        (await store.list('a', 2)).map(({ id }) => id),
        ['3', '2'],
      )
      assert.equal((await store.findPending('a', '3'))?.id, '3')
      assert.equal(await store.findPending('a', '4'), undefined)
    })

    test('only a delivery that has ended can be sent again, once, with its body and id', async () => {
      await using opened = await newDatabase(engine, [Buffer.alloc(32, 1)])
      const store = new DeliveryStore(opened.database)
      await store.insert([sample('1', { expiresAt: 50 })])
      assert.equal(await store.reopen('a', '1', 900), undefined)
      await store.record('1', { ...again, status: 'exhausted' }, 100)
      assert.equal(await store.reopen('b', '1', 900), undefined)
      assert.deepEqual(await store.reopen('a', '1', 900), sample('1', { nextAt: 900 }))
      assert.equal(await store.reopen('a', '1', 900), undefined)
      assert.equal((await store.pendingOf('a')).length, 1)
    })

    test('a delivery that ended long ago is forgotten, a waiting one never', async () => {
      await using opened = await newDatabase(engine)
      const store = new DeliveryStore(opened.database)
      await store.insert([sample('1'), sample('2'), sample('3')])
      await store.record('1', delivered, 100)
      await store.record('2', delivered, 200)
      await store.prune(150)
      assert.deepEqual(
        (await store.list('a', 100)).map(({ id }) => id),
        ['3', '2'],
      )
    })
  })
}

test('the read of a start finds the waiting deliveries by their status, without those that have ended', async () => {
  await using opened = await newDatabase('sqlite')
  const { database, location } = opened
  assert.ok(location.engine === 'sqlite')
  const asked: string[] = []
  const read = database.read.bind(database)
  database.read = (query, opens) => {
    asked.push(query.compile().sql)
    return read(query, opens)
  }
  const store = new DeliveryStore(database)
  await store.pending('all')
  await store.pendingOfDeleted()
  using file = new DatabaseSync(location.path)
  for (const statement of asked) {
    const plan = file.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
    assert.match(JSON.stringify(plan), /SEARCH deliveries USING INDEX deliveries_by_status/)
  }
  assert.equal(asked.length, 2)
})
