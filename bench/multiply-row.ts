// Multiplies a stored row inside the database, which makes millions of rows in minutes.

import type { Database } from '../src/storage/database.ts'
import type { Row } from '../src/storage/engine/statement.ts'

type Multiplied = {
  table: string
  /** Finds the row, as SQL. */
  where: string
  count: number
  /** Columns that differ from row to row, as SQL with the number `i` of the row, which begins with 0. */
  columns: Readonly<Record<string, string>>
}

/** A commit of so many rows ends before the statement timeout of PostgreSQL. */
const rowsAtOnce = 20_000

/** A column `id` without an expression is given by the database. */
export async function multiplyRow(database: Database, { table, where, count, columns }: Multiplied): Promise<void> {
  const [row] = await database.writeReturning<Row>({ sql: `SELECT * FROM ${table} WHERE ${where}`, parameters: [] })
  if (!row) throw new Error(`${table} has no row with ${where}`)
  const names = Object.keys(row).filter((name) => name !== 'id' || 'id' in columns)
  const values = names.map((name) => columns[name] ?? `template.${name}`)
  for (let from = 0; from < count; from += rowsAtOnce) {
    const series = seriesOf(database, from, Math.min(from + rowsAtOnce, count) - 1)
    const rows = `SELECT ${values.join()} FROM ${table} AS template, ${series} WHERE template.${where}`
    await database.write({ sql: `INSERT INTO ${table} (${names.join()}) ${rows}`, parameters: [] })
  }
}

function seriesOf({ engine }: Database, first: number, last: number): string {
  if (engine === 'postgres') return `generate_series(CAST(${first} AS BIGINT), ${last}) AS series (i)`
  const numbers = `SELECT ${first} AS i UNION ALL SELECT i + 1 FROM numbers WHERE i < ${last}`
  return `(WITH RECURSIVE numbers AS (${numbers}) SELECT i FROM numbers) AS series`
}
