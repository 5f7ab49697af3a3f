// Builds the SQL of SQLite, with limits as numbers in the text.
//
// SQLite reads a bound limit when it plans a statement, and plans the statement anew whenever that value is bound again, also
// if it is the same. Planning costs several times more than running.

import { SqliteQueryCompiler, ValueNode } from 'kysely'
import type { LimitNode } from 'kysely'

export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(`limit ${Number(limit.value)}`)
    else super.visitLimit(node)
  }
}
