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
  return compileReadOnce(names, ({ instance, chat, asked_from, kind, event_id, ...conversation }) => {
    const asked = { instance: sql.val(instance), chat: sql.val(chat) }
    return chatsOf(query, conversation, asked).select(({ fn }) => {
      const of = inChat(query, fn.coalesce('shown.instance', asked.instance), fn.coalesce('shown.chat', asked.chat))
      return [
        lastIn(of).select('network_key').as('lastKey'),
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
    })
  })
}

/** The chats of a conversation. If there are none, one row of nulls. */
export function compileStoredChats({ query }: Database) {
  return compileReadOnce(conversationNames, (conversation) => chatsOf(query, conversation))
}

/**
 * Touches one row as long as a read would find this chat first, with the same addresses and the same import. If the conversation is
 * not stored, its chat is the one that the callback names.
 */
export function compileUnchanged(database: Database) {
  const { query } = database
  const facts = ['owner', 'owner_chat', 'phone', 'lid', 'last_address', 'is_history', 'import_ended_at'] as const
  return compileOnce([...placeNames, ...facts], ({ instance, chat, owner, owner_chat, ...expected }) => {
    const { destination, conversation_id, phone, lid, last_address, is_history, import_ended_at } = expected
    const conversation = { destination, conversation_id }
    const of = inChat(query, sql.val(owner), sql.val(owner_chat))
    const person = query.selectFrom('people').where('instance', '=', owner).where('id', '=', owner_chat)
    const lastAddress = lastIn(of).select(addressOf(database).as('address'))
    return query
      .selectFrom(shownIn(query, conversation).select(['shown.instance', 'shown.chat']).limit(1).as('first'))
      .select(sql.lit(1).as('one'))
      .where(({ fn }) => fn.coalesce('first.instance', sql.val(instance)), '=', owner)
      .where(({ fn }) => fn.coalesce('first.chat', sql.val(chat)), '=', owner_chat)
      .where((where) => where.exists(of.select(sql.lit(1).as('one'))))
      .where(({ eb }) => eb(person.select('phone'), 'is not distinct from', phone))
      .where(({ eb }) => eb(person.select('lid'), 'is not distinct from', lid))
      .where(({ eb }) => eb(lastAddress, 'is not distinct from', last_address))
      .where(({ eb }) => eb(isHistory(query, conversation), '=', is_history))
      .where(({ eb }) => eb(importEnd(query, conversation), 'is not distinct from', import_ended_at))
  })
}

/** Touches one row while the conversation has a message that is not marked read. */
export function compileUnread({ query }: Database) {
  return compileOnce(conversationNames, (conversation) => unreadAt(query, conversation))
}

/** `asked` is the chat whose person counts when no chat is stored. */
function chatsOf(query: Query, conversation: Conversation, asked?: Record<'instance' | 'chat', Expression<string>>) {
  const none = sql<string>`NULL`
  const { instance, chat } = asked ?? { instance: none, chat: none }
  return shownIn(query, conversation)
    .leftJoin('people', (join) =>
      join
        .on('people.instance', '=', ({ fn }) => fn.coalesce('shown.instance', instance))
        .on('people.id', '=', ({ fn }) => fn.coalesce('shown.chat', chat)),
    )
    .select(['shown.instance', 'shown.chat', 'people.phone', 'people.lid'])
    .select(['shown.is_history', 'shown.is_importing', 'shown.import_ended_at'])
}

/** The chats of a conversation. The one that is answered comes first. If there are none, one row of nulls. */
function shownIn(query: Query, { destination, conversation_id }: Conversation) {
  return query
    .selectFrom(query.selectNoFrom(sql.lit(1).as('one')).as('asked'))
    .leftJoin('conversation_chats as shown', (join) =>
      join.on('shown.destination', '=', destination).on('shown.conversation_id', '=', conversation_id),
    )
    .orderBy('shown.wrote_at', 'desc')
    .orderBy('shown.used_at', 'desc')
}

/** When the last import into the conversation ended; 0 while one is under way. */
function importEnd(query: Query, conversation: Conversation) {
  return marksOf(query, conversation).select(
    sql<number | null>`CASE WHEN MAX(marked.is_importing) = 1 THEN 0 ELSE MAX(marked.import_ended_at) END`.as('end'),
  )
}

function isHistory(query: Query, conversation: Conversation) {
  return marksOf(query, conversation).select(sql<number>`COALESCE(MAX(marked.is_history), 0)`.as('is_history'))
}

function marksOf(query: Query, { destination, conversation_id }: Conversation) {
  return query
    .selectFrom('conversation_chats as marked')
    .where('marked.destination', '=', destination)
    .where('marked.conversation_id', '=', conversation_id)
}

function inChat(query: Query, instance: Expression<string>, chat: Expression<string>) {
  return query.selectFrom('message_map').where('instance', '=', instance).where('chat', '=', chat)
}

/** The last message that the chat has written. */
function lastIn(of: ReturnType<typeof inChat>) {
  return of.where('direction', '=', incoming).orderBy('claimed_at', 'desc').limit(1)
}

/** As `addressIn`. */
function addressOf({ engine }: Database) {
  return engine === 'sqlite'
    ? sql<string>`json_extract(network_key, '$.chat')`
    : sql<string>`network_key::json->>'chat'`
}

function unreadAt(query: Query, { destination, conversation_id }: Conversation) {
  return unreadIn(query, destination, conversation_id).select(sql.lit(1).as('one')).limit(1)
}
