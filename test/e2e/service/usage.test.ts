import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noUsage } from '../../../src/core/usage.ts'
import { UsageStore } from '../../../src/storage/stores/ledger/usage-store.ts'
import type { Database } from '../../../src/storage/database.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns, usageBatch } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const start = Date.UTC(2026, 2, 15, 12)
const row = (instance: string, day: string, ownerTag: string, messages_in: number) => ({
  ...noUsage,
  instance,
  day,
  ownerTag,
  messages_in,
})

async function seed(database: Database): Promise<void> {
  for (const name of ['a', 'b'])
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns(name)))
  await new UsageStore(database).add(
    usageBatch([
      row('a', '2026-02-13', 'x', 1),
      row('a', '2026-02-14', 'x', 2),
      row('a', '2026-03-15', 'x', 4),
      row('a', '2026-03-15', 'y', 8),
      row('b', '2026-03-15', '', 16),
      row('gone', '2026-01-01', 'x', 32),
      row('gone', '2025-12-31', 'x', 64),
    ]),
  )
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`usage endpoints on ${engine}`, () => {
    test('one instance, by default the last 30 days, two owner tags of a day summed', async () => {
      await using service = await Service.start({ engine, clock: new ManualClock(start), seed })
      assert.deepEqual((await service.get('/api/instances/a/usage')).body, {
        instance: 'a',
        from: '2026-02-14',
        to: '2026-03-15',
        rows: [
          { ...noUsage, instance: 'a', day: '2026-02-14', messages_in: 2 },
          { ...noUsage, instance: 'a', day: '2026-03-15', messages_in: 12 },
        ],
      })
    })

    test('all instances in a range, ordered by instance, then day', async () => {
      await using service = await Service.start({ engine, clock: new ManualClock(start), seed })
      const { body } = await service.get('/api/usage?from=2026-01-01&to=2026-03-15')
      assert.deepEqual(
        (body as { rows: { instance: string; day: string }[] }).rows.map(({ instance, day }) => `${instance} ${day}`),
        ['a 2026-02-13', 'a 2026-02-14', 'a 2026-03-15', 'b 2026-03-15', 'gone 2026-01-01'],
      )
    })

    test('the summary stays with the owner tag of the day, deleted instances included', async () => {
      await using service = await Service.start({ engine, clock: new ManualClock(start), seed })
      assert.deepEqual((await service.get('/api/usage/summary')).body, {
        from: '2026-01',
        to: '2026-03',
        rows: [
          { ...noUsage, owner_tag: '', month: '2026-03', messages_in: 16, active_instances: 1 },
          { ...noUsage, owner_tag: 'x', month: '2026-01', messages_in: 32, active_instances: 1 },
          { ...noUsage, owner_tag: 'x', month: '2026-02', messages_in: 3, active_instances: 1 },
          { ...noUsage, owner_tag: 'x', month: '2026-03', messages_in: 4, active_instances: 1 },
          { ...noUsage, owner_tag: 'y', month: '2026-03', messages_in: 8, active_instances: 1 },
        ],
      })
    })
  })
}

test('what was counted a moment ago is in the answer', async () => {
  await using service = await Service.start({ clock: new ManualClock(start), seed })
  service.app.usage.count('b', '', 'messages_out', 2)
  service.app.usage.count('b', '', 'lifecycle_events')
  const { body } = await service.get('/api/instances/b/usage')
  assert.deepEqual((body as { rows: unknown[] }).rows, [
    { ...noUsage, instance: 'b', day: '2026-03-15', messages_in: 16, messages_out: 2, lifecycle_events: 1 },
  ])
})

test('counters reach storage every 60 s and at the end', async () => {
  const clock = new ManualClock(start)
  const service = await Service.start({ clock })
  const store = new UsageStore(service.database)
  service.app.usage.count('a', 'x', 'messages_in')
  await clock.advance(59_999)
  assert.equal((await store.totals()).messages_in, 0)
  await clock.advance(1)
  await waitUntil('the count is stored', async () => (await store.totals()).messages_in === 1)

  service.app.usage.count('a', 'x', 'messages_in')
  await service.app[Symbol.asyncDispose]()
  assert.equal((await store.totals()).messages_in, 2)
  await service[Symbol.asyncDispose]()
})

describe('usage ranges', () => {
  const wrong = [
    '/api/usage?from=yesterday',
    '/api/usage?from=2026-02-30',
    '/api/usage?from=2026-13-01',
    '/api/usage?from=2026-00-10',
    '/api/usage?to=2026-3-1',
    '/api/usage?to=20260301',
    '/api/usage?from=2026-03-02&to=2026-03-01',
    '/api/usage?from=2026-03-01&from=2026-03-02',
    '/api/usage?from=2026-03',
    '/api/usage?from=%00',
    '/api/usage?to=0000-01-05',
    '/api/usage?from=0026-01-05',
    '/api/usage?from=1969-12-31',
    '/api/usage/summary?to=0000-01',
    '/api/usage/summary?to=0026-03',
    '/api/usage/summary?from=1969-12',
    '/api/usage?from=',
    '/api/usage/summary?from=2026-03-01',
    '/api/usage/summary?from=2026-13',
    '/api/usage/summary?from=2026-04&to=2026-03',
    '/api/usage/summary?to=junk',
    '/api/instances/a/usage?from=junk',
    '/api/instances/..%2fa/usage',
    '/api/instances/%00/usage',
    '/api/instances/bulk/usage',
    `/api/instances/${'x'.repeat(65)}/usage`,
  ]
  for (const engine of drawnEngines(import.meta.url)) {
    test(`that are not usable are refused on ${engine}`, async () => {
      await using service = await Service.start({ engine, seed })
      for (const path of wrong) assertRefused(await service.get(path), 'SERVICE_BAD_REQUEST')
    })
  }

  test('of an unknown instance are 404', async () => {
    await using service = await Service.start({ seed })
    for (const name of ['nobody', '__proto__x', 'constructor', 'gone']) {
      const answer = await service.get(`/api/instances/${name}/usage`)
      assertRefused(answer, name.startsWith('_') ? 'SERVICE_BAD_REQUEST' : 'SERVICE_INSTANCE_NOT_FOUND')
    }
  })

  test('reach back from the end when only the end is given', async () => {
    await using service = await Service.start({ seed })
    const daily = (await service.get('/api/usage?to=2026-01-10')).body as { from: string; to: string }
    assert.deepEqual([daily.from, daily.to], ['2025-12-12', '2026-01-10'])
    const monthly = (await service.get('/api/usage/summary?to=2026-01')).body as { from: string; to: string }
    assert.deepEqual([monthly.from, monthly.to], ['2025-11', '2026-01'])
    assert.equal((await service.get('/api/usage?to=1970-01-01&unknown=1')).status, 200)
    assert.equal((await service.get('/api/usage/summary?to=1970-01')).status, 200)
    assert.equal((await service.get('/api/usage?from=1970-01-01&to=9999-12-31')).status, 200)
  })
})
