// The facts that are needed before a callback is accepted, in one read.
//
// Within ten seconds the read of the previous message is reused. The commit that accepts the message then checks that those
// facts still hold. When they do not, nothing is stored and the caller reads again.

import type { PerInstance } from '../../../core/per-instance.ts'
import { sql } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import { compileOnce, compileReadOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { addressIn, incoming, unreadIn } from './sent-message-store.ts'
import type { Statement } from '../../engine/statement.ts'

/** A chat of an instance, a conversation at the helpdesk, and the callback. What is not known is null. */
export type SendContextKey = {
  instance: InstanceName
  chatId: ChatId | null
  destination: DestinationKey | null
  conversationId: number | null
  callback: CallbackKey | null
}

export type SendContextFacts = {
  /** The instance that the conversation belongs to. */
  owner: InstanceName | undefined
  /** The address from which the chat last wrote to us; undefined when it never did. */
  lastAddress: Jid | undefined
  /** Whether the chat has any message, of either side. */
  isKnown: boolean
  /** Whether the conversation has incoming messages that are not marked read. */
  hasUnread: boolean
  /** Whether the callback is settled. */
  isSettled: boolean
}

/** The facts as they are stored. `lastKey` is the network key of the last incoming message. */
type Found = { owner: string | null; lastKey: string | null; known: number | null; unread: number | null }

// An agent or a bot writes several messages in a row.
const reuseForMs = 10_000
const maxCached = 2_000

export class SendContextStore implements PerInstance {
  readonly #database: Database
  readonly #read: ReturnType<typeof compileRead>
  readonly #unchanged: ReturnType<typeof compileUnchanged>
  readonly #cache: BoundedMap<Found>

  constructor(database: Database, clock: Pick<Clock, 'monotonic'>) {
    this.#database = database
    this.#read = compileRead(database)
    this.#unchanged = compileUnchanged(database)
    this.#cache = new BoundedMap({ clock, max: maxCached, ttlMs: reuseForMs })
  }

  async read(key: SendContextKey): Promise<SendContextFacts> {
    const { destination: asked_from = null, kind = null, eventId: event_id = null } = key.callback ?? {}
    const [row] = await this.#database.read(this.#read({ ...placeIn(key), asked_from, kind, event_id }))
    const found = { owner: null, lastKey: null, known: null, unread: null, ...row }
    const isSettled = row?.settled === 1
    // Other facts change with the very message that is being accepted.
    if (found.known === 1 && found.unread === null && !isSettled) this.#cache.set(nameOf(key), found)
    else this.#cache.delete(nameOf(key))
    return { ...factsOf(found), isSettled }
  }

  /** The facts of a recent read. `unchanged` is a statement that touches one row while they still hold. */
  recall(key: SendContextKey): (SendContextFacts & { unchanged: Statement }) | undefined {
    const found = this.#cache.get(nameOf(key))
    if (!found) return undefined
    const { owner, lastKey } = found
    const unchanged = this.#unchanged({ ...placeIn(key), owner, last_key: lastKey })
    return { ...factsOf(found), isSettled: false, unchanged }
  }

  /** Those of these messages that have a row in the outbox. */
  async acceptedAmong(destination: DestinationKey, messageIds: readonly number[]): Promise<number[]> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select('message_id')
      .where('destination', '=', destination)
      .where('message_id', 'in', messageIds)
    return (await this.#database.read(query)).flatMap(({ message_id }) => message_id ?? [])
  }

  leave(instance: InstanceName): void {
    const prefix = JSON.stringify([instance]).slice(0, -1)
    this.#cache.deleteWhere((name) => name.startsWith(`${prefix},`))
  }
}

function placeIn({ instance, chatId, destination, conversationId }: SendContextKey) {
  return { instance, chat: chatId, destination, conversation_id: conversationId }
}

function nameOf({ instance, chatId, destination, conversationId }: SendContextKey): string {
  return JSON.stringify([instance, chatId, destination, conversationId])
}

function factsOf({ owner, lastKey, known, unread }: Found): Omit<SendContextFacts, 'isSettled'> {
  return {
    owner: owner ?? undefined,
    lastAddress: lastKey === null ? undefined : addressIn(lastKey),
    isKnown: known === 1,
    hasUnread: unread === 1,
  }
}

const placeNames = ['instance', 'chat', 'destination', 'conversation_id'] as const
type Place = Record<(typeof placeNames)[number], never>

function compileRead({ query }: Database) {
  return compileReadOnce(
    [...placeNames, 'asked_from', 'kind', 'event_id'],
    ({ asked_from, kind, event_id, ...place }) =>
      query.selectNoFrom([
        ownerAt(query, place).as('owner'),
        lastKeyAt(query, place).as('lastKey'),
        inChat(query, place).select(sql.lit(1).as('one')).limit(1).as('known'),
        unreadAt(query, place).as('unread'),
        query
          .selectFrom('callbacks')
          .select(sql.lit(1).as('one'))
          .where('instance', '=', place.instance)
          .where('destination', '=', asked_from)
          .where('kind', '=', kind)
          .where('event_id', '=', event_id)
          .as('settled'),
      ]),
  )
}

/** Touches one row while a read would find the same owner and last message, and nothing unread. */
function compileUnchanged({ query }: Database) {
  return compileOnce([...placeNames, 'owner', 'last_key'], ({ owner, last_key, ...place }) =>
    query
      .selectNoFrom(sql.lit(1).as('one'))
      .where(({ eb }) => eb(ownerAt(query, place), 'is not distinct from', owner))
      .where(({ eb }) => eb(lastKeyAt(query, place), 'is not distinct from', last_key))
      .where((where) => where.not(where.exists(unreadAt(query, place)))),
  )
}

type Query = Database['query']

function inChat(query: Query, { instance, chat }: Place) {
  return query.selectFrom('message_map').where('instance', '=', instance).where('chat', '=', chat)
}

function ownerAt(query: Query, { destination, conversation_id }: Place) {
  return query
    .selectFrom('conversations')
    .select('instance')
    .where('destination', '=', destination)
    .where('conversation_id', '=', conversation_id)
    .orderBy('used_at', 'desc')
    .limit(1)
}

function lastKeyAt(query: Query, place: Place) {
  const received = inChat(query, place).select('network_key').where('direction', '=', incoming)
  return received.orderBy('claimed_at', 'desc').limit(1)
}

function unreadAt(query: Query, { destination, conversation_id }: Place) {
  return unreadIn(query, destination, conversation_id).select(sql.lit(1).as('one')).limit(1)
}
