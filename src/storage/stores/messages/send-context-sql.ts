// The SQL of the facts that are needed before a callback is accepted.

import { sql } from 'kysely'
import type { Expression } from 'kysely'
import { compileOnce, compileReadOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { incoming, unreadIn } from './sent-message-store.ts'

type Query = Database['query']
type Mark<Name extends string> = Readonly<Record<Name, never>>

const conversationNames = ['destination', 'conversation_id'] as const
type Conversation = Mark<(typeof conversationNames)[number]>

const placeNames = ['instance', 'chat', ...conversationNames] as const

/** One row per chat of the conversation, or one row about the chat that the caller asks for when there is none. */
export function compileContextRead({ query }: Database) {
  const names = [...placeNames, 'asked_from', 'kind', 'event_id'] as const
  return compileReadOnce(names, ({ instance, chat, asked_from, kind, event_id, ...conversation }) =>
    chatsOf(query, conversation).select(({ fn }) => {
      const asked = { instance: sql.val(instance), chat: sql.val(chat) }
      const of = inChat(query, fn.coalesce('shown.instance', asked.instance), fn.coalesce('shown.chat', asked.chat))
      return [
        lastKey(of).as('lastKey'),
        of.select(sql.lit(1).as('one')).limit(1).as('known'),
        unreadAt(query, conversation).as('unread'),
        query
          .selectFrom('settled_callbacks')
          .select(sql.lit(1).as('one'))
          .where('destination', '=', asked_from)
          .where('kind', '=', kind)
          .where('event_id', '=', event_id)
          .as('settled'),
      ]
    }),
  )
}

/** The chats of a conversation. Without any, one row of nulls. */
export function compileStoredChats({ query }: Database) {
  return compileReadOnce(conversationNames, (conversation) => chatsOf(query, conversation))
}

/**
 * Touches one row while a read would find the same first chat, addresses and last message, nothing unread and no other
 * import.
 */
export function compileUnchanged({ query }: Database) {
  const names = [...placeNames, 'owner', 'owner_chat', 'phone', 'lid', 'last_key', 'import_ended_at'] as const
  return compileOnce(
    names,
    ({ instance, chat, owner, owner_chat, phone, lid, last_key, import_ended_at, ...conversation }) =>
      query
        .selectFrom(chatsOf(query, conversation).limit(1).as('first'))
        .select(sql.lit(1).as('one'))
        .where('first.instance', 'is not distinct from', owner)
        .where('first.chat', 'is not distinct from', owner_chat)
        .where('first.phone', 'is not distinct from', phone)
        .where('first.lid', 'is not distinct from', lid)
        .where(({ eb, fn }) => {
          const of = inChat(
            query,
            fn.coalesce('first.instance', sql.val(instance)),
            fn.coalesce('first.chat', sql.val(chat)),
          )
          return eb(lastKey(of), 'is not distinct from', last_key)
        })
        .where((where) => where.not(where.exists(unreadAt(query, conversation))))
        .where(({ eb }) => eb(importEnd(query, conversation), 'is not distinct from', import_ended_at)),
  )
}

function chatsOf(query: Query, { destination, conversation_id }: Conversation) {
  return query
    .selectFrom(query.selectNoFrom(sql.lit(1).as('one')).as('asked'))
    .leftJoin('conversation_chats as shown', (join) =>
      join.on('shown.destination', '=', destination).on('shown.conversation_id', '=', conversation_id),
    )
    .leftJoin('people', (join) =>
      join.onRef('people.instance', '=', 'shown.instance').onRef('people.id', '=', 'shown.chat'),
    )
    .select(['shown.instance', 'shown.chat', 'people.phone', 'people.lid'])
    .select(['shown.is_history', 'shown.is_importing', 'shown.import_ended_at'])
    .orderBy('shown.wrote_at', 'desc')
    .orderBy('shown.used_at', 'desc')
}

/** When the last import into the conversation ended; 0 while one is under way. */
function importEnd(query: Query, { destination, conversation_id }: Conversation) {
  return query
    .selectFrom('conversation_chats as marked')
    .select(
      sql<number | null>`CASE WHEN MAX(marked.is_importing) = 1 THEN 0 ELSE MAX(marked.import_ended_at) END`.as('end'),
    )
    .where('marked.destination', '=', destination)
    .where('marked.conversation_id', '=', conversation_id)
}

function inChat(query: Query, instance: Expression<string>, chat: Expression<string>) {
  return query.selectFrom('message_map').where('instance', '=', instance).where('chat', '=', chat)
}

function lastKey(of: ReturnType<typeof inChat>) {
  return of.select('network_key').where('direction', '=', incoming).orderBy('claimed_at', 'desc').limit(1)
}

function unreadAt(query: Query, { destination, conversation_id }: Conversation) {
  return unreadIn(query, destination, conversation_id).select(sql.lit(1).as('one')).limit(1)
}
