import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'

for (const engine of engines) {
  describe(`lease store on ${engine}`, () => {
    test('the first owner gets epoch 1 and a second one nothing while the lease runs', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      assert.equal(await leases.acquire('a', 60_000), 1)
      assert.equal(await leases.acquire('b', 60_000), undefined)
      const holder = await leases.holder()
      assert.equal(holder?.owner, 'a')
      assert.ok(holder.expiresInMs > 0 && holder.expiresInMs <= 60_000, `expires in ${holder.expiresInMs}`)
    })

    test('a released lease goes to the next owner with the next epoch', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      await leases.acquire('a', 60_000)
      await leases.release('a', 1)
      assert.equal(await leases.acquire('b', 60_000), 2)
      assert.equal(await leases.renew('a', 1, 60_000), false)
      assert.equal(await leases.renew('b', 2, 60_000), true)
    })

    test('an expired lease that no other process took is prolonged', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      await leases.acquire('a', 0)
      assert.equal(await leases.renew('a', 1, 60_000), true)
      assert.equal(await leases.acquire('b', 60_000), undefined)
    })

    test('exactly one of many processes that ask for a free lease at once gets it', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => leases.acquire(`owner ${i}`, 60_000)))
      assert.deepEqual(
        answers.filter((epoch) => epoch !== undefined),
        [1],
      )
    })

    test('a lease whose owner is gone is taken before its end, unless it was renewed after it was read', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      await leases.acquire('a', 60_000)
      const seen = await leases.holder()
      assert.ok(seen && !seen.isReleased)
      assert.equal(await leases.acquire('b', 60_000, { ...seen, owner: 'c' }), undefined)
      await leases.renew('a', 1, 3_600_000)
      assert.equal(await leases.acquire('b', 60_000, seen), undefined, 'it was renewed')
      assert.equal(await leases.acquire('b', 60_000, await leases.holder()), 2)
      assert.equal(await leases.renew('a', 1, 60_000), false)
    })

    test('a lease that was given back is told from one that has expired', async () => {
      await using opened = await newDatabase(engine)
      const leases = new LeaseStore(opened.database)
      await leases.acquire('a', -1000)
      assert.equal((await leases.holder())?.isReleased, false)
      await leases.release('a', 1)
      assert.equal((await leases.holder())?.isReleased, true)
    })

    test('there is no holder before the first owner', async () => {
      await using opened = await newDatabase(engine)
      assert.equal(await new LeaseStore(opened.database).holder(), undefined)
    })
  })
}
