// Everything that a database holds.

import { sql } from 'kysely'
import type { Database } from '../../../src/storage/database.ts'

/** Every row of every table. The lease changes by itself. */
export async function contentOf(database: Database): Promise<Record<string, string[]>> {
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
