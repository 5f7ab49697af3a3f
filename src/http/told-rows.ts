// Rows that another node tells about what it holds. A node of another version may leave out what this one shows.

/** Whether the row has every field of the sample. */
export function hasFields(sample: object, row: unknown): row is object {
  return typeof row === 'object' && row !== null && Object.keys(sample).every((field) => Object.hasOwn(row, field))
}

/** The answer of one node. */
export type ToldRows<Row> = { rows: Row[] }

/** The row to show in place of a stored one. The node that tells a row knows more than what is stored. */
export function preferTold<Row extends object>(
  answers: readonly unknown[],
  keyOf: (row: Row) => string,
): (stored: Row) => Row {
  const told = new Map(answers.flatMap((answer) => rowsIn<Row>(answer)).map((row) => [keyOf(row), row]))
  return (stored) => {
    const row = told.get(keyOf(stored))
    return row && isLike(stored, row) ? row : stored
  }
}

function rowsIn<Row extends object>(answer: unknown): Row[] {
  const { rows } = (answer ?? {}) as Partial<ToldRows<unknown>>
  return Array.isArray(rows) ? rows.filter((row): row is Row => hasFields({}, row)) : []
}

/** Has the same fields, also in objects within it. A field may be null in one of the two. */
function isLike(sample: object, row: object): boolean {
  if (!hasFields(sample, row)) return false
  return Object.entries(sample).every(([field, part]: [string, unknown]) => {
    const told = (row as Record<string, unknown>)[field]
    return isObject(part) && isObject(told) ? isLike(part, told) : true
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
