// The reads of workers on a node that holds some of the instances, and what a start corrects.

import type { RowScope } from '../../../src/core/nodes/duties.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { correctFutureTimes } from '../../../src/storage/stores/future-times.ts'
import { nodeHold } from '../../harness/holds.ts'
import type { Stores } from './all-stores.ts'

type Read = (stores: Stores) => Promise<unknown>

const held = ['shop', 'market']
const scopes: Readonly<Record<string, RowScope>> = {
  'all instances': 'all',
  'held instances': { held, withDeleted: false },
  'held and deleted instances': { held, withDeleted: true },
}

const scoped: Readonly<Record<string, (stores: Stores, scope: RowScope) => Promise<unknown>>> = {
  'OutboxStore.countPending': ({ outbox }, scope) => outbox.countPending(scope),
  'ShownStore.planUnsure': ({ shown }, scope) => shown.planUnsure({ after: 0, before: 5000 }, 5000, scope),
  'ShownStore.due': ({ shown }, scope) => shown.due(5000, 10, scope),
  'TickStore.due': ({ ticks }, scope) => ticks.due(5000, 10, ['held'], scope),
  'InboxStore.lateFiles': ({ inbox }, scope) => inbox.lateFiles('', 10, scope),
  'RejectedCallStore.dueTexts': ({ rejectedCalls }, scope) => rejectedCalls.dueTexts(10, scope),
  'DeliveryStore.pending': ({ deliveries }, scope) => deliveries.pending(scope),
  'DeliveryStore.exhaustedSince': ({ deliveries }, scope) => deliveries.exhaustedSince(0, 10, scope),
  'ImportStore.abandoned': ({ imports }, scope) => imports.abandoned(scope),
  correctFutureTimes: ({ database }, scope) => correctFutureTimes(database, nodeHold(), 1000, scope),
}

/** On SQLite one process has all instances. */
export function nodeReadsOn(engine: EngineName): [name: string, read: Read][] {
  const used = Object.entries(scopes).filter(([, scope]) => engine === 'postgres' || scope === 'all')
  return Object.entries(scoped).flatMap(([name, read]) =>
    used.map(([what, scope]): [string, Read] => [`${name} of ${what}`, (stores) => read(stores, scope)]),
  )
}
