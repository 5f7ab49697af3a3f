// Lets the server refuse a statement that touches another number of rows than expected. The client need not wait for the count.

/** The SQLSTATE that `expect_rows` of migration 031 raises. */
export const unexpectedRows = 'CW001'

/** The statement answers its own rows if it returns rows, and nothing of use otherwise. */
export function expecting(sql: string, expected: number): string {
  const count = `SELECT expect_rows(count(*), ${expected}) AS met FROM`
  if (/^\s*select\b/i.test(sql)) return `${count} (${sql}) touched`
  if (!/\breturning\b/i.test(sql)) return `WITH touched AS (${sql} RETURNING 1) ${count} touched`
  // The check comes first in the join: it also runs when the statement touched nothing.
  return `WITH touched AS (${sql}) SELECT touched.* FROM (${count} touched) checked LEFT JOIN touched ON checked.met`
}
