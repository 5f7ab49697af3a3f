import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDuties, dutiesOf } from '../../test/harness/duties.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { RowScope } from '../core/nodes/duties.ts'
import { ExhaustedDeliveries } from './exhausted-deliveries.ts'

const day = 24 * 3_600_000

test('an exhausted delivery counts for a day, or until it is sent again', async () => {
  const clock = new ManualClock()
  const stored = [{ id: 'before', instance: 'a', finishedAt: clock.now() - day + 1000 }]
  const exhausted = new ExhaustedDeliveries({
    deliveries: { exhaustedSince: () => Promise.resolve(stored) },
    duties: allDuties,
    clock,
  })
  await exhausted.take('a')
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

test('an event that expires by design does not count', async () => {
  const deliveries = { exhaustedSince: () => Promise.resolve([]) }
  const exhausted = new ExhaustedDeliveries({ deliveries, duties: allDuties, clock: new ManualClock() })
  await exhausted.take('a')
  exhausted.add({ id: 'qr', instance: 'a', expiresAt: 20_000 })
  assert.equal(exhausted.count, 0)
})

test('a deleted instance does not count', async () => {
  const deliveries = { exhaustedSince: () => Promise.resolve([]) }
  const exhausted = new ExhaustedDeliveries({ deliveries, duties: allDuties, clock: new ManualClock() })
  for (const instance of ['a', 'b']) {
    await exhausted.take(instance)
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
  const exhausted = new ExhaustedDeliveries({
    deliveries: { exhaustedSince: () => stored.promise },
    duties: allDuties,
    clock,
  })
  for (const instance of ['a', 'b']) await exhausted.take(instance)
  const loaded = exhausted.load()
  exhausted.leave('a')
  stored.resolve(['a', 'b'].map((instance) => ({ id: `of ${instance}`, instance, finishedAt: clock.now() })))
  await loaded
  assert.equal(exhausted.count, 1)
})

test('an instance that is taken later brings its exhausted deliveries, and no other instance does', async () => {
  const clock = new ManualClock()
  const asked: RowScope[] = []
  const exhaustedSince = (_since: number, _limit: number, scope: RowScope) => {
    asked.push(scope)
    return Promise.resolve(
      scope === 'all' ? [] : scope.held.map((instance) => ({ id: instance, instance, finishedAt: clock.now() })),
    )
  }
  const exhausted = new ExhaustedDeliveries({ deliveries: { exhaustedSince }, duties: dutiesOf(['a']), clock })
  await exhausted.take('a')
  await exhausted.load()
  await exhausted.take('b')
  assert.deepEqual(
    asked,
    ['a', 'b'].map((instance) => ({ held: [instance], withDeleted: false })),
  )
  assert.deepEqual(
    exhausted.list().map(({ instance }) => instance),
    ['a', 'b'],
  )
})
