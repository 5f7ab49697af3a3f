// What a callback must know before it is accepted: looked up at once, or recalled under the condition that it is still so.

import type { PerInstance } from '../../../core/per-instance.ts'
import { sql } from 'kysely'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { CallbackKey } from './settled-callbacks.ts'
import { compileOnce, compileReadOnce } from '../../compile-once.ts'
import type { Database } from '../../database.ts'
import { addressIn, incoming, unreadIn } from './sent-message-store.ts'
import type { Statement } from '../../engine/statement.ts'

/** A chat of an instance, a conversation at the helpdesk, and who asks; what is not known is null. */
export type SendContextKey = {
  instance: string
  chat: string | null
  destination: string | null
  conversationId: number | null
  callback: CallbackKey | null
}

export type SendContextFacts = {
  /** The instance the conversation belongs to. */
  owner: string | undefined
  /** The address under which the other side of the chat last wrote; undefined when it never did. */
  lastAddress: string | undefined
  /** Whether anything was ever said in the chat, by whomever. */
  isKnown: boolean
  /** Whether messages of others in the conversation are not marked read. */
  hasUnread: boolean
  /** Whether the callback was followed before. */
  isSettled: boolean
}

type Look = { owner: string | null; heard: string | null; known: number | null; unread: number | null }

// An agent or a bot who writes several messages in a row.
const reuseForMs = 10_000
const spotsRemembered = 2_000

export class SendContextStore implements PerInstance {
  readonly #database: Database
  readonly #read: ReturnType<typeof compileLookAround>
  readonly #isStill: ReturnType<typeof compileIsStill>
  readonly #looks: BoundedMap<Look>

  constructor(database: Database, clock: Pick<Clock, 'monotonic'>) {
    this.#database = database
    this.#read = compileLookAround(database)
    this.#isStill = compileIsStill(database)
    this.#looks = new BoundedMap({ clock, max: spotsRemembered, ttlMs: reuseForMs })
  }

  async read(spot: SendContextKey): Promise<SendContextFacts> {
    const { destination: asked_from = null, kind = null, event_id = null } = spot.callback ?? {}
    const [found] = await this.#database.read(this.#read({ ...placeIn(spot), asked_from, kind, event_id }))
    const look = { owner: null, heard: null, known: null, unread: null, ...found }
    const isSettled = found?.settled === 1
    // What changes with the very message that asks is not worth remembering.
    if (look.known === 1 && look.unread === null && !isSettled) this.#looks.set(nameOf(spot), look)
    else this.#looks.delete(nameOf(spot))
    return { ...surroundingsOf(look), isSettled }
  }

  /** What was just looked up, and the condition under which it may be used: a step that touches one row. */
  recall(spot: SendContextKey): (SendContextFacts & { still: Statement }) | undefined {
    const look = this.#looks.get(nameOf(spot))
    if (!look) return undefined
    const { owner, heard } = look
    return { ...surroundingsOf(look), isSettled: false, still: this.#isStill({ ...placeIn(spot), owner, heard }) }
  }

  leave(instance: string): void {
    this.#looks.deleteWhere((key) => key.startsWith(`[${JSON.stringify(instance)},`))
  }
}

function placeIn({ instance, chat, destination, conversationId }: SendContextKey) {
  return { instance, chat, destination, conversation_id: conversationId }
}

function nameOf(spot: SendContextKey): string {
  return JSON.stringify(Object.values(placeIn(spot)))
}

function surroundingsOf({ owner, heard, known, unread }: Look): Omit<SendContextFacts, 'isSettled'> {
  return {
    owner: owner ?? undefined,
    lastAddress: heard === null ? undefined : addressIn(heard),
    isKnown: known === 1,
    hasUnread: unread === 1,
  }
}

const placeNames = ['instance', 'chat', 'destination', 'conversation_id'] as const
type Place = Record<(typeof placeNames)[number], never>

function compileLookAround({ query }: Database) {
  return compileReadOnce(
    [...placeNames, 'asked_from', 'kind', 'event_id'],
    ({ asked_from, kind, event_id, ...place }) =>
      query.selectNoFrom([
        ownerAt(query, place).as('owner'),
        heardAt(query, place).as('heard'),
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

/** Touches one row while a look would find the same, and nothing unread. */
function compileIsStill({ query }: Database) {
  return compileOnce([...placeNames, 'owner', 'heard'], ({ owner, heard, ...place }) =>
    query
      .selectNoFrom(sql.lit(1).as('one'))
      .where(({ eb }) => eb(ownerAt(query, place), 'is not distinct from', owner))
      .where(({ eb }) => eb(heardAt(query, place), 'is not distinct from', heard))
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

function heardAt(query: Query, place: Place) {
  const heard = inChat(query, place).select('network_key').where('direction', '=', incoming)
  return heard.orderBy('claimed_at', 'desc').limit(1)
}

function unreadAt(query: Query, { destination, conversation_id }: Place) {
  return unreadIn(query, destination, conversation_id).select(sql.lit(1).as('one')).limit(1)
}
