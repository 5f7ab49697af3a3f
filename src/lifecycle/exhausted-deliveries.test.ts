import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { ExhaustedDeliveries } from './exhausted-deliveries.ts'

const day = 24 * 3_600_000

test('an exhausted delivery counts for a day, or until it is sent again', async () => {
  const clock = new ManualClock()
  const stored = [{ id: 'before', instance: 'a', finishedAt: clock.now() - day + 1000 }]
  const exhausted = new ExhaustedDeliveries({ deliveries: { exhaustedSince: () => Promise.resolve(stored) }, clock })
  exhausted.take('a')
  await exhausted.load()
  for (const id of ['first', 'second']) exhausted.add({ id, instance: 'a', expiresAt: null })
  assert.equal(exhausted.count, 3)
  exhausted.delete('first')
  assert.equal(exhausted.count, 2)
  await clock.advance(1000)
  assert.equal(exhausted.count, 1)
  await clock.advance(day)
  assert.equal(exhausted.count, 0)
})

test('an event that expires by design does not count', () => {
  const deliveries = { exhaustedSince: () => Promise.resolve([]) }
  const exhausted = new ExhaustedDeliveries({ deliveries, clock: new ManualClock() })
  exhausted.take('a')
  exhausted.add({ id: 'qr', instance: 'a', expiresAt: 20_000 })
  assert.equal(exhausted.count, 0)
})

test('a deleted instance does not count', () => {
  const deliveries = { exhaustedSince: () => Promise.resolve([]) }
  const exhausted = new ExhaustedDeliveries({ deliveries, clock: new ManualClock() })
  for (const instance of ['a', 'b']) {
    exhausted.take(instance)
    exhausted.add({ id: `of ${instance}`, instance, expiresAt: null })
  }
  exhausted.leave('a')
  assert.equal(exhausted.count, 1)
  exhausted.add({ id: 'later', instance: 'a', expiresAt: null })
  assert.equal(exhausted.count, 1)
})

test('an instance that is deleted while the stored deliveries are read does not count', async () => {
  const clock = new ManualClock()
  const stored = Promise.withResolvers<{ id: string; instance: string; finishedAt: number }[]>()
  const exhausted = new ExhaustedDeliveries({ deliveries: { exhaustedSince: () => stored.promise }, clock })
  for (const instance of ['a', 'b']) exhausted.take(instance)
  const loaded = exhausted.load()
  exhausted.leave('a')
  stored.resolve(['a', 'b'].map((instance) => ({ id: `of ${instance}`, instance, finishedAt: clock.now() })))
  await loaded
  assert.equal(exhausted.count, 1)
})
