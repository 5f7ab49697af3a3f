// Modules of the pages that need no browser: the instances of the overview, and rules that the API has, too.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { instanceNamePattern } from '../../../src/core/instance.ts'
import { longestHistoryDays } from '../../../src/core/jobs/history-jobs.ts'
import { lifecycleEvents } from '../../../src/core/lifecycle/lifecycle.ts'

type Row = { name: string; state: string; parked: number; ban_level: string; outbox_pending: number }
type Store = {
  get(name: string): Row | undefined
  list(): Row[]
  beginLoad(): void
  replace(rows: Row[]): void
  take(event: Row | { name: string; deleted: true }): boolean
  onRow(name: string, listener: () => void): () => void
  onList(listener: () => void): () => void
}

const moduleOf = (file: string) => import(new URL(`../../../static/app/pages/${file}`, import.meta.url).href)
const { RowStore } = (await moduleOf('overview/row-store.js')) as { RowStore: new () => Store }
const { isInstanceName } = (await moduleOf('new-instance/instance-name.js')) as {
  isInstanceName: (name: string) => boolean
}

const subscribers = (await moduleOf('instance/subscribers/lifecycle-events.js')) as { lifecycleEvents: string[] }
const { mostHistoryDays } = (await moduleOf('instance/settings/history-days.js')) as { mostHistoryDays: number }

const row = (name: string, more: Partial<Row> = {}): Row => {
  return { name, state: 'ready', parked: 0, ban_level: 'ok', outbox_pending: 0, ...more }
}

function filled(...names: string[]) {
  const store = new RowStore()
  store.replace(names.map((name) => row(name)))
  const heard: string[] = []
  for (const name of names) store.onRow(name, () => heard.push(name))
  store.onList(() => heard.push('list'))
  return { store, heard }
}

describe('the instances of the overview', () => {
  test('a changed count is told to one card only', () => {
    const { store, heard } = filled('a', 'b', 'c')
    assert.equal(store.take(row('b', { outbox_pending: 1 })), false, 'it needs no operator')
    assert.deepEqual(heard, ['b'])
  })

  test('an event that changes nothing is told to no card', () => {
    const { store, heard } = filled('a')
    store.take(row('a'))
    assert.deepEqual(heard, [])
  })

  test('a changed state may need the operator, and may change a filtered list', () => {
    const { store, heard } = filled('a', 'b')
    assert.equal(store.take(row('a', { state: 'logged_out' })), true)
    assert.deepEqual(heard, ['a', 'list'])
  })

  test('a load tells the list once, also when many instances came and went', () => {
    const { store, heard } = filled('a', 'b')
    store.beginLoad()
    store.replace([row('b'), row('c'), row('d')])
    assert.deepEqual(heard, ['a', 'list'])
    assert.deepEqual(
      store.list().map(({ name }) => name),
      ['b', 'c', 'd'],
    )
  })

  test('an event that comes during a load counts more than the answer', () => {
    const { store } = filled('a', 'b')
    store.beginLoad()
    store.take(row('a', { outbox_pending: 5 }))
    store.take({ name: 'b', deleted: true })
    store.replace([row('a'), row('b')])
    assert.deepEqual([store.get('a')?.outbox_pending, store.get('b')], [5, undefined])
  })

  test('names are sorted as people count', () => {
    const { store } = filled('n10', 'n2', 'N1')
    assert.deepEqual(
      store.list().map(({ name }) => name),
      ['N1', 'n2', 'n10'],
    )
  })
})

test('the wizard accepts the same names as the API', () => {
  const ofApi = new RegExp(instanceNamePattern)
  const signs = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code))
  const names = [
    '',
    'bulk',
    'bulk2',
    'Bulk',
    'x'.repeat(64),
    'x'.repeat(65),
    ...signs,
    ...signs.map((sign) => `a${sign}b`),
  ]
  for (const name of names) assert.equal(isInstanceName(name), ofApi.test(name), JSON.stringify(name))
})

test('the fields of a subscriber offer every lifecycle event', () => {
  assert.deepEqual(subscribers.lifecycleEvents.toSorted(), lifecycleEvents.toSorted())
})

test('the days of history have the bound of the API', () => {
  assert.equal(mostHistoryDays, longestHistoryDays)
})
