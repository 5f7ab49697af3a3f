// Seals secret columns on the way into a table and opens them on the way out. The engines do it, next to the disk.

import type { SecretBox } from '../../lib/secret-box.ts'
import { isSecret, placeOf } from './statement.ts'
import type { Row, Scalar, Secret, SecretColumns } from './statement.ts'

export function sealSecrets(parameters: readonly (Scalar | Secret)[], box: SecretBox): Scalar[] {
  return parameters.map((each) => (isSecret(each) ? box.seal(bytesOf(each.seal), each.place) : each))
}

/** Replaces sealed bytes by what they hold; rows must carry the key columns. */
export function openSecrets(rows: readonly Row[], { table, key, columns }: SecretColumns, box: SecretBox): Row[] {
  return rows.map((row) => {
    const opened = { ...row }
    const names = key.map((column) => row[column] ?? null)
    for (const column of columns) {
      const stored = row[column]
      if (stored instanceof Uint8Array) opened[column] = box.open(stored, placeOf(table, names, column))
    }
    return opened
  })
}

function bytesOf(value: Uint8Array | string): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value
}
