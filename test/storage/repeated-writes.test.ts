// A write is repeated when the answer to its commit was lost. The second time succeeds and changes nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { methodsOf, openStores } from './harness/all-stores.ts'
import { contentOf } from './harness/content.ts'
import { callsOn, storeCalls } from './harness/store-calls.ts'

/** Without the counter of changed settings: one that grows without a change costs each node one look. */
async function storedIn(database: Database): Promise<Record<string, string[]>> {
  const content = Object.entries(await contentOf(database))
  return Object.fromEntries(content.filter(([table]) => table !== 'cluster'))
}

for (const engine of engines) {
  describe(`writes on ${engine}`, () => {
    test('every method of every store is classified', async () => {
      await using opened = await newDatabase(engine)
      assert.deepEqual(Object.keys(storeCalls).sort(), methodsOf(await openStores(opened.database)).sort())
    })

    test('one that is repeated changes nothing the second time', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const stores = await openStores(database)
      for (const [name, { kind, given, run }] of callsOn(engine)) {
        if (kind !== 'repeated') continue
        await given?.(stores, name)
        const before = await storedIn(database)
        await run(stores, name)
        const once = await storedIn(database)
        assert.notDeepEqual(once, before, `${name} writes something`)
        await run(stores, name)
        assert.deepEqual(await storedIn(database), once, name)
      }
    })
  })
}
