// The chats that were shown in a conversation, and which of them wrote last. The last writer is the one to answer.

import { sql } from 'kysely'
import type { Expression } from 'kysely'
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
export function rememberOpened(query: Query, row: Omit<ConversationChatTable, 'wrote_at'>) {
  return query
    .insertInto('conversation_chats')
    .values({ ...row, wrote_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
}

/** Two chats of an instance became one. */
export function moveChats(query: Query, instance: string, keep: string, drop: string) {
  const dropped = query
    .selectFrom('conversation_chats')
    .select(['destination', 'conversation_id', 'instance', sql.val(keep).as('chat'), 'wrote_at', 'used_at'])
    .where('instance', '=', instance)
    .where('chat', '=', drop)
  return [
    rememberChat(query, dropped),
    query.deleteFrom('conversation_chats').where('instance', '=', instance).where('chat', '=', drop),
  ]
}
