// A process that does not hold an instance any more changes nothing: every write of every store carries a hold.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { isUnexpected } from '../../src/storage/stores/fence.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { openStores } from './harness/all-stores.ts'
import type { StoreCall, Stores } from './harness/all-stores.ts'
import { contentOf } from './harness/content.ts'
import { storeCalls } from './harness/store-calls.ts'
import { writesWithoutHold } from './harness/writes-without-hold.ts'

/** Another process has taken over: the holds of all calls are stale. */
async function takeOver({ database }: Stores, epoch: number): Promise<void> {
  await database.write(database.query.updateTable('lease').set({ epoch }))
}

async function isRefused(stores: Stores, name: string, { run }: StoreCall): Promise<boolean> {
  await takeOver(stores, 2)
  try {
    await run(stores, name)
    return false
  } catch (error) {
    if (error instanceof NotHeldError || isUnexpected(error)) return true
    throw error
  } finally {
    await takeOver(stores, 1)
  }
}

for (const engine of engines) {
  describe(`stale holds on ${engine}`, () => {
    test('every write is refused and changes nothing, except for those that need no hold', async () => {
      await using opened = await newDatabase(engine)
      const stores = await openStores(opened.database)
      const made: string[] = []
      for (const [name, call] of Object.entries(storeCalls)) {
        if (call.kind === 'read') continue
        await call.given?.(stores, name)
        const before = await contentOf(opened.database)
        if (!(await isRefused(stores, name, call))) made.push(name)
        else assert.deepEqual(await contentOf(opened.database), before, `${name} was refused, but changed something`)
      }
      assert.deepEqual(made.sort(), Object.keys(writesWithoutHold).sort())
    })
  })
}
