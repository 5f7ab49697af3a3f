// Reads the rows of the outbox that are pending or being sent. Those of one instance come as one text: a row of the result for each
// of a hundred thousand messages would take three times as long.

import { sql } from 'kysely'
import type { InstanceName } from '../../../core/ids.ts'
import type { Database } from '../../database.ts'
import { limitless } from './waiting-sql.ts'
import type { LiveRow, TakenRow } from './outbox-rows.ts'

type Listed = [
  id: LiveRow['id'],
  kind: LiveRow['kind'],
  chatId: LiveRow['chatId'],
  destination: LiveRow['destination'],
  conversationId: LiveRow['conversationId'],
  messageId: LiveRow['messageId'],
  isSending: number,
  isLimitless: number,
]

/** Of each instance that has such rows, oldest first. */
export async function readLiveRows(
  database: Database,
  instances: readonly InstanceName[],
): Promise<Map<InstanceName, TakenRow[]>> {
  const rows = database.query
    .selectFrom('outbox')
    .select('instance')
    .select((row) => {
      const isSending = sql`CASE WHEN ${sql.ref('status')} = 'sending' THEN 1 ELSE 0 END`
      const isLimitless = sql`CASE WHEN ${limitless(row)} THEN 1 ELSE 0 END`
      const listed = sql`id, kind, chat, destination, conversation_id, message_id, ${isSending}, ${isLimitless}`
      const text =
        database.engine === 'postgres'
          ? sql<string>`json_agg(json_build_array(${listed}))::text`
          : sql<string>`json_group_array(json_array(${listed}))`
      return text.as('listed')
    })
    .where('status', 'in', ['pending', 'sending'])
    .where('instance', 'in', instances)
    .groupBy('instance')
  return new Map((await database.read(rows)).map(({ instance, listed }) => [instance, toRows(instance, listed)]))
}

function toRows(instance: InstanceName, listed: string): TakenRow[] {
  const rows = (JSON.parse(listed) as Listed[]).map(
    ([id, kind, chatId, destination, conversationId, messageId, isSending, isLimitless]): TakenRow => ({
      ...{ id, instance, kind, chatId, destination, conversationId, messageId },
      ...{ isSending: isSending === 1, isLimitless: isLimitless === 1 },
    }),
  )
  return rows.sort((one, two) => (one.id < two.id ? -1 : 1))
}
