// Finds the newest stored ids, so that new ids sort after them although the clock was ahead when they were made.

import { msAfter } from '../../lib/row-ids.ts'
import type { Database } from '../database.ts'

const tables = ['inbox', 'outbox', 'message_map', 'history_messages'] as const

/** The first millisecond whose ids sort after every stored id. One read of an index for each table. */
export async function findIdFloor(database: Database): Promise<number> {
  let floor = 0
  for (const table of tables) {
    const newest = database.query.selectFrom(table).select('id').orderBy('id', 'desc').limit(1)
    for (const { id } of await database.read(newest)) floor = Math.max(floor, msAfter(id))
  }
  return floor
}
