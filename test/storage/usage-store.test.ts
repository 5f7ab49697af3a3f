import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noUsage } from '../../src/core/usage.ts'
import { UsageStore } from '../../src/storage/stores/ledger/usage-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { usageBatch } from '../harness/samples.ts'

const row = (instance: string, day: string, ownerTag: string, messages_in: number) => ({
  ...noUsage,
  instance,
  day,
  ownerTag,
  messages_in,
})

for (const engine of engines) {
  describe(`usage store on ${engine}`, () => {
    test('added counts sum up per instance, day and owner tag', async () => {
      await using opened = await newDatabase(engine)
      const usage = new UsageStore(opened.database)
      await usage.add(usageBatch([row('a', '2026-01-02', 'x', 1)]))
      await usage.add(
        usageBatch([row('a', '2026-01-02', 'x', 2), row('a', '2026-01-02', 'y', 10), row('a', '2026-01-01', 'x', 5)]),
      )
      assert.deepEqual(await usage.daily({ from: '2026-01-01', to: '2026-01-02' }), [
        { ...noUsage, instance: 'a', day: '2026-01-01', messages_in: 5 },
        { ...noUsage, instance: 'a', day: '2026-01-02', messages_in: 13 },
      ])
    })

    test('a range includes both of its ends and nothing else, for one instance or all', async () => {
      await using opened = await newDatabase(engine)
      const usage = new UsageStore(opened.database)
      const days = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03']
      await usage.add(usageBatch(days.flatMap((day) => [row('b', day, '', 1), row('a', day, '', 1)])))
      const found = await usage.daily({ from: '2026-01-01', to: '2026-01-02' })
      assert.deepEqual(
        found.map(({ instance, day }) => `${instance} ${day}`),
        ['a 2026-01-01', 'a 2026-01-02', 'b 2026-01-01', 'b 2026-01-02'],
      )
      assert.equal((await usage.daily({ from: '2026-01-01', to: '2026-01-02' }, 'a')).length, 2)
    })

    test('months are summed per owner tag with their active instances', async () => {
      await using opened = await newDatabase(engine)
      const usage = new UsageStore(opened.database)
      await usage.add(
        usageBatch([
          row('a', '2026-01-31', 'x', 1),
          row('b', '2026-01-01', 'x', 2),
          row('b', '2026-01-02', 'x', 4),
          row('b', '2026-02-01', 'y', 8),
          row('c', '2026-03-01', '', 16),
        ]),
      )
      assert.deepEqual(await usage.monthly({ from: '2026-01', to: '2026-02' }), [
        { ...noUsage, owner_tag: 'x', month: '2026-01', messages_in: 7, active_instances: 2 },
        { ...noUsage, owner_tag: 'y', month: '2026-02', messages_in: 8, active_instances: 1 },
      ])
    })

    test('totals over nothing are zero', async () => {
      await using opened = await newDatabase(engine)
      const usage = new UsageStore(opened.database)
      assert.deepEqual({ ...(await usage.totals()) }, noUsage)
      await usage.add(usageBatch([row('a', '2026-01-31', 'x', 1), row('b', '2026-02-01', '', 2)]))
      assert.equal((await usage.totals()).messages_in, 3)
    })
  })
}
