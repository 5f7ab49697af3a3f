import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../test/harness/databases.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { UsageStore } from '../storage/stores/ledger/usage-store.ts'
import { Usage } from './usage.ts'

/** A store whose additions wait until they are let through. */
class GatedStore extends UsageStore {
  additions = 0
  gate = Promise.withResolvers<undefined>()

  override async add(...rows: Parameters<UsageStore['add']>): Promise<void> {
    this.additions++
    await this.gate.promise
    await super.add(...rows)
  }
}

test('callers that ask while a flush runs share the next one, and find their counts', async () => {
  await using opened = await newDatabase('sqlite')
  const store = new GatedStore(opened.database)
  const usage = new Usage({ store, clock: new ManualClock() })
  usage.count('a', '', 'messages_in')
  const first = usage.flush()
  await Promise.resolve()
  usage.count('a', '', 'messages_in')
  const totals = Array.from({ length: 10 }, () => usage.totals())
  store.gate.resolve(undefined)
  await first
  assert.deepEqual(
    (await Promise.all(totals)).map(({ messages_in }) => messages_in),
    Array.from({ length: 10 }, () => 2),
  )
  assert.equal(store.additions, 2)
})

test('a flush that fails keeps its counts and does not stop the next', async () => {
  await using opened = await newDatabase('sqlite')
  const store = new GatedStore(opened.database)
  const usage = new Usage({ store, clock: new ManualClock() })
  usage.count('a', '', 'messages_in')
  const failing = usage.flush()
  store.gate.reject(new Error('away'))
  await assert.rejects(failing, /away/)
  store.gate = Promise.withResolvers<undefined>()
  store.gate.resolve(undefined)
  assert.equal((await usage.totals()).messages_in, 1)
})
