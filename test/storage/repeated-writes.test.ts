// A write is repeated when the answer to its commit was lost. The second time succeeds and changes nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/storage/database.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { methodsOf, openStores } from './harness/all-stores.ts'
import { callsOn, storeCalls } from './harness/store-calls.ts'

/** Every row of every table. The lease changes by itself. */
async function contentOf(database: Database): Promise<Record<string, string[]>> {
  const names = {
    sqlite: sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    postgres: sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  }[database.engine]
  const tables = await database.read<{ name: string }>({ compile: () => names.compile(database.query) })
  const content: Record<string, string[]> = {}
  for (const { name } of tables.filter((table) => table.name !== 'lease')) {
    const rows = sql`SELECT * FROM ${sql.table(name)}`
    const found = await database.read({ compile: () => rows.compile(database.query) })
    content[name] = found.map((row) => JSON.stringify(row)).sort()
  }
  return content
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
        const before = await contentOf(database)
        await run(stores, name)
        const once = await contentOf(database)
        assert.notDeepEqual(once, before, `${name} writes something`)
        await run(stores, name)
        assert.deepEqual(await contentOf(database), once, name)
      }
    })
  })
}
