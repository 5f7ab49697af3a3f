// A process that does not hold an instance any more changes nothing: every write of every store carries a hold.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { openDatabase } from '../../src/storage/database.ts'
import type { Database, EngineName } from '../../src/storage/database.ts'
import { isUnexpected } from '../../src/storage/stores/fence.ts'
import { engines, newDatabase, withoutPostgres } from '../harness/databases.ts'
import { nodeHold } from '../harness/holds.ts'
import { silentLog } from '../harness/logs.ts'
import { openStores, storesOn } from './harness/all-stores.ts'
import type { StoreCall, Stores } from './harness/all-stores.ts'
import { contentOf } from './harness/content.ts'
import { storeCalls } from './harness/store-calls.ts'
import { writesWithoutHold } from './harness/writes-without-hold.ts'

/** Another process has taken over: the holds of all calls are stale. */
async function takeOver(database: Database): Promise<void> {
  const { query, engine } = database
  const { node, epoch } = nodeHold(2)
  const stale = nodeHold().node
  await database.write(query.updateTable('lease').set({ epoch }))
  if (engine === 'sqlite') return
  await database.write(
    query.updateTable('nodes').set({ state: 'dead' }).where('id', '=', stale),
    query.updateTable('assignments').set({ node, epoch }).where('node', '=', stale),
  )
}

/** The next write of the owner gets the rest back. */
async function giveBack(database: Database): Promise<void> {
  await database.write(database.query.updateTable('lease').set({ epoch: 1 }))
}

async function isRefused(stores: Stores, name: string, { run }: StoreCall): Promise<boolean> {
  try {
    await run(stores, name)
    return false
  } catch (error) {
    if (error instanceof NotHeldError || isUnexpected(error)) return true
    throw error
  }
}

/** A name that is no method of a store counts as one: the test then names it. */
function isOn(call: StoreCall | undefined, engine: EngineName): boolean {
  return call?.engine === undefined || call.engine === engine
}

/** The writes that are made with a stale hold, by name. One that is refused must not have changed anything. */
async function madeWhenStale(opened: Awaited<ReturnType<typeof newDatabase>>, engine: EngineName): Promise<string[]> {
  const stores = await openStores(opened.database)
  await using database = await openDatabase({ location: opened.location, encryptionKeys: [], log: silentLog })
  // It gets no holds.
  const stale = storesOn(database)
  const made: string[] = []
  for (const [name, call] of Object.entries(storeCalls)) {
    if (call.kind === 'read' || !isOn(call, engine)) continue
    await call.given?.(stores, name)
    await takeOver(database)
    const before = await contentOf(database)
    if (!(await isRefused(stale, name, call))) made.push(name)
    else assert.deepEqual(await contentOf(database), before, `${name} was refused, but changed something`)
    await giveBack(database)
  }
  return made.sort()
}

const allowedOn = (engine: EngineName) =>
  Object.keys(writesWithoutHold)
    .filter((name) => isOn(storeCalls[name], engine))
    .sort()

for (const engine of engines) {
  test(`every write with a stale hold is refused and changes nothing, except for those that need none, ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    assert.deepEqual(await madeWhenStale(opened, engine), allowedOn(engine))
  })
}

test('without the fence each of them is made', { skip: withoutPostgres }, async () => {
  await using opened = await newDatabase('postgres')
  // Every number of rows is fine, so that no fence refuses anything.
  const sql = `CREATE OR REPLACE FUNCTION expect_rows(touched BIGINT, expected BIGINT) RETURNS BOOLEAN
    LANGUAGE sql AS 'SELECT true'`
  await opened.database.write({ sql, parameters: [] })
  const writes = Object.entries(storeCalls).filter(([, call]) => call.kind !== 'read' && isOn(call, 'postgres'))
  assert.deepEqual(await madeWhenStale(opened, 'postgres'), writes.map(([name]) => name).sort())
})
