import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { RestrictionStore } from '../../src/storage/stores/accounts/restriction-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf } from '../harness/holds.ts'

for (const engine of engines) {
  describe(`restrictions on ${engine}`, () => {
    test('a later one replaces the earlier one of its instance', async () => {
      await using opened = await newDatabase(engine)
      const epoch = (await new LeaseStore(opened.database).acquire('test', 60_000)) ?? 0
      const store = new RestrictionStore(opened.database, (instance) => holdOf(instance, epoch))
      await store.save('a', { until: 10, struckAt: 1 })
      await store.save('b', { until: 20, struckAt: 2 })
      await store.save('a', { until: 30, struckAt: 3 })
      assert.deepEqual(await store.find('a'), { until: 30, struckAt: 3 })
      assert.deepEqual(await store.find('b'), { until: 20, struckAt: 2 })
    })

    test('a process without the lease is told that it stores nothing', async () => {
      await using opened = await newDatabase(engine)
      const epoch = (await new LeaseStore(opened.database).acquire('test', 60_000)) ?? 0
      await new RestrictionStore(opened.database, (instance) => holdOf(instance, epoch)).save('a', {
        until: 10,
        struckAt: 1,
      })
      const late = new RestrictionStore(opened.database, (instance) => holdOf(instance, epoch - 1))
      await assert.rejects(late.save('a', { until: 30, struckAt: 3 }), NotHeldError)
      assert.deepEqual(await late.find('a'), { until: 10, struckAt: 1 })
    })
  })
}
