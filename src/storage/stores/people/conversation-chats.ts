// The chats that were shown in a conversation, and which of them wrote last. The last writer is the one to answer.

import { sql } from 'kysely'
import type { Expression, Insertable } from 'kysely'
import type { Database } from '../../database.ts'
import type { ConversationChatTable } from '../../schema/people.ts'

type Query = Database['query']

const columns = ['destination', 'conversation_id', 'instance', 'chat', 'wrote_at', 'used_at'] as const

/** Stores rows that a query selects, in the order of `columns`. Of a chat that is known already, the newer row stays. */
export function rememberChat(query: Query, rows: Expression<unknown>) {
  return query
    .insertInto('conversation_chats')
    .columns(columns)
    .expression(rows as Expression<never>)
    .onConflict((conflict) =>
      conflict
        .columns(['destination', 'conversation_id', 'instance', 'chat'])
        .doUpdateSet((eb) => ({ wrote_at: eb.ref('excluded.wrote_at'), used_at: eb.ref('excluded.used_at') }))
        .whereRef('excluded.wrote_at', '>=', 'conversation_chats.wrote_at'),
    )
}

/** A chat for which a conversation was found or opened. Whether it has written there is not known. */
export function rememberOpened(
  query: Query,
  row: Pick<Insertable<ConversationChatTable>, 'destination' | 'conversation_id' | 'instance' | 'chat' | 'used_at'>,
) {
  return query
    .insertInto('conversation_chats')
    .values({ ...row, wrote_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
}

/** Two chats of an instance became one. What was imported for either counts for it. */
export function moveChats(query: Query, instance: string, keep: string, drop: string) {
  const dropped = query
    .selectFrom('conversation_chats')
    .select(['destination', 'conversation_id', 'instance', sql.val(keep).as('chat'), 'wrote_at', 'used_at'])
    .where('instance', '=', instance)
    .where('chat', '=', drop)
  return [
    rememberChat(query, dropped),
    moveMarks(query, instance, keep, drop),
    query.deleteFrom('conversation_chats').where('instance', '=', instance).where('chat', '=', drop),
  ]
}

/** Both chats have a row for each conversation by now. */
function moveMarks(query: Query, instance: string, keep: string, drop: string) {
  const isLater = sql`coalesce(dropped.import_ended_at, 0) > coalesce(conversation_chats.import_ended_at, 0)`
  const end = sql<
    number | null
  >`CASE WHEN ${isLater} THEN dropped.import_ended_at ELSE conversation_chats.import_ended_at END`
  return query
    .updateTable('conversation_chats')
    .from('conversation_chats as dropped')
    .set(({ fn }) => ({
      is_history: fn.coalesce('conversation_chats.is_history', 'dropped.is_history'),
      is_importing: fn.coalesce('conversation_chats.is_importing', 'dropped.is_importing'),
      import_ended_at: end,
    }))
    .whereRef('dropped.destination', '=', 'conversation_chats.destination')
    .whereRef('dropped.conversation_id', '=', 'conversation_chats.conversation_id')
    .where('dropped.instance', '=', instance)
    .where('dropped.chat', '=', drop)
    .where('conversation_chats.instance', '=', instance)
    .where('conversation_chats.chat', '=', keep)
}
