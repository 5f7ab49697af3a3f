import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StateChange } from '../../src/core/live.ts'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const change = (id: string, at: number, more: Partial<StateChange> = {}): StateChange => ({
  ...{ id, instance: 'a', at, state: 'ready', reason: 'logged in' },
  ...more,
})

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const stores = await openStores(database)
    const insert = (name: string) => stores.instances.insert(holdOf('a'), sampleInstance(name), sampleAudit())
    await insert('a')
    await insert('b')
    const idsOf = async (instance: string, from = 0) => (await stores.states.since(instance, from)).map(({ id }) => id)
    const owned = stack.move()
    return { ...stores, insert, idsOf, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`the changes of states on ${engine}`, () => {
    test('are read from the state at a time on, oldest first', async () => {
      await using stage = await setUp()
      const { states } = stage
      const all = [change('1', 100), change('2', 200, { state: 'disconnected' }), change('3', 200), change('4', 300)]
      await states.add([...all].reverse())
      await states.add([change('5', 250, { instance: 'b' })])
      assert.deepEqual(await states.since('a', 0), all)
      assert.deepEqual(await states.since('a', 250), all.slice(2))
      assert.deepEqual(await states.since('a', 200), all.slice(2))
      assert.deepEqual(await states.since('a', 1000), all.slice(3))
      assert.deepEqual(await states.since('none', 0), [])
    })

    test('are stored once under their id', async () => {
      await using stage = await setUp()
      await stage.states.add([change('1', 100)])
      await stage.states.add([change('1', 900), change('2', 200)])
      assert.deepEqual(await stage.states.since('a', 0), [change('1', 100), change('2', 200)])
    })

    test('are pruned, except for the last one of each instance, which tells the state', async () => {
      await using stage = await setUp()
      const { states, idsOf } = stage
      const old = Array.from({ length: 1500 }, (_, n) => change(`o${n}`, n))
      await states.add([...old, change('new', 5000), change('b', 10, { instance: 'b' })])
      await states.add([change('gone', 10, { instance: 'deleted' })])
      await states.prune(4000)
      assert.deepEqual(await idsOf('a', -1), ['o1499', 'new'])
      assert.deepEqual(await idsOf('b', -1), ['b'])
      assert.deepEqual(await idsOf('deleted', -1), [])
    })

    test('of the future become changes of now', async () => {
      await using stage = await setUp()
      const { states, lastMessages, database } = stage
      await states.add([change('1', 100), change('2', 10_000_000)])
      await lastMessages.put(
        new Map([
          ['a', { inAt: 10_000_000, outAt: 100 }],
          ['b', { inAt: null, outAt: 10_000_000 }],
        ]),
      )
      await correctFutureTimes(database, nodeHold(), 5000)
      assert.deepEqual(
        (await states.since('a', 0)).map(({ at }) => at),
        [100, 5000],
      )
      assert.deepEqual(await lastMessages.find('a'), { inAt: 5000, outAt: 100 })
      assert.deepEqual(await lastMessages.find('b'), { inAt: null, outAt: 5000 })
    })
  })

  test(`states and message times go with the instance, and are not those of a new one on ${engine}`, async () => {
    await using stage = await setUp()
    const { states, lastMessages, instances, insert, idsOf } = stage
    const fill = async () => {
      await states.add([change('1', 100)])
      await lastMessages.put(new Map([['a', { inAt: 1, outAt: 2 }]]))
    }
    await fill()
    await instances.remove(holdOf('a'), null, sampleAudit())
    assert.deepEqual([await idsOf('a'), await lastMessages.find('a')], [[], undefined])
    // A write that was late.
    await fill()
    await insert('a')
    assert.deepEqual([await idsOf('a'), await lastMessages.find('a')], [[], undefined])
  })
}
