// The facts that are needed before a callback is accepted, in one read.
//
// Within ten seconds the read of the previous message is reused. The commit that accepts the message then checks that those
// facts still hold. When they do not, nothing is stored and the caller reads again.

import type { PerInstance } from '../../../core/per-instance.ts'
import type { Person } from '../../../core/address.ts'
import type { ImportState } from '../../../core/history/import-state.ts'
import type { ChatId, DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Database } from '../../database.ts'
import type { Statement } from '../../engine/statement.ts'
import { compileContextRead, compileStoredChats, compileUnchanged } from './send-context-sql.ts'
import { addressIn } from './sent-message-store.ts'
import type { CallbackKey } from './settled-callbacks.ts'

/** A chat of an instance, a conversation at the helpdesk, and the callback. What is not known is null. */
export type SendContextKey = {
  instance: InstanceName
  chatId: ChatId | null
  destination: DestinationKey | null
  conversationId: number | null
  callback: CallbackKey | null
}

/** A chat that was shown in the conversation. `person` is null for a group. */
export type StoredChat = { instance: InstanceName; chatId: ChatId; person: Person | null }

/** The chats that were shown in a conversation. The one that wrote last is first. */
export type StoredConversation = { chats: readonly StoredChat[]; importState: ImportState }

export type ChatFacts = {
  /** The address from which the chat last wrote to us; undefined when it never did. */
  lastAddress: Jid | undefined
  /** Whether the chat has any message, of either side. */
  isKnown: boolean
}

export type SendContextFacts = {
  /** The chats of the conversation. The one that wrote last is first. */
  stored: readonly (StoredChat & ChatFacts)[]
  /** The facts about the chat of the key, when no chat is stored. */
  asked: ChatFacts | undefined
  /** Whether the conversation has incoming messages that are not marked read. */
  hasUnread: boolean
  /** Whether the callback is settled. */
  isSettled: boolean
  importState: ImportState
}

/** The facts as they are stored. `lastKey` is the network key of the last incoming message. */
type FoundChat = {
  instance: string | null
  chat: string | null
  phone: string | null
  lid: string | null
  lastKey: string | null
  known: number | null
}

/** The columns of a chat that say what is imported into its conversation. */
type Marks = { is_history: number | null; is_importing: number | null; import_ended_at: number | null }

type CachedContext = { first: FoundChat; importState: ImportState }

// An agent or a bot writes several messages in a row.
const reuseForMs = 10_000
const maxCached = 2_000

export class SendContextStore implements PerInstance {
  readonly #database: Database
  readonly #read: ReturnType<typeof compileContextRead>
  readonly #stored: ReturnType<typeof compileStoredChats>
  readonly #unchanged: ReturnType<typeof compileUnchanged>
  readonly #cache: BoundedMap<CachedContext>

  constructor(database: Database, clock: Pick<Clock, 'monotonic'>) {
    this.#database = database
    this.#read = compileContextRead(database)
    this.#stored = compileStoredChats(database)
    this.#unchanged = compileUnchanged(database)
    this.#cache = new BoundedMap({ clock, max: maxCached, ttlMs: reuseForMs })
  }

  async read(key: SendContextKey): Promise<SendContextFacts> {
    const { destination: asked_from = null, kind = null, eventId: event_id = null } = key.callback ?? {}
    const rows = await this.#database.read(this.#read({ ...columnsOf(key), asked_from, kind, event_id }))
    const [first] = rows
    const hasUnread = first?.unread === 1
    const isSettled = first?.settled === 1
    const importState = importStateOf(rows)
    // Other facts change with the very message that is being accepted.
    const isLasting = first?.known === 1 && !hasUnread && !isSettled && !importState.isImporting
    if (isLasting) this.#cache.set(nameOf(key), { first, importState })
    else this.#cache.delete(nameOf(key))
    return { ...factsOf(rows), hasUnread, isSettled, importState }
  }

  /** Facts of a recent read about the first chat. `unchanged` is a statement that touches one row while they still hold. */
  recall(key: SendContextKey): (SendContextFacts & { unchanged: Statement }) | undefined {
    const found = this.#cache.get(nameOf(key))
    if (!found) return undefined
    const { first, importState } = found
    const { instance: owner, chat: owner_chat, phone, lid, lastKey: last_key } = first
    const facts = { owner, owner_chat, phone, lid, last_key, import_ended_at: importState.endedAt }
    const unchanged = this.#unchanged({ ...columnsOf(key), ...facts })
    return { ...factsOf([first]), hasUnread: false, isSettled: false, importState, unchanged }
  }

  async storedConversation(destination: DestinationKey, conversationId: number): Promise<StoredConversation> {
    const rows = await this.#database.read(this.#stored({ destination, conversation_id: conversationId }))
    return { chats: rows.flatMap((row) => toStoredChat(row) ?? []), importState: importStateOf(rows) }
  }

  /**
   * Those of these messages whose callbacks have a row in the outbox. A row that was made from a change of its message has no
   * callback.
   */
  async acceptedAmong(destination: DestinationKey, messageIds: readonly number[]): Promise<number[]> {
    const query = this.#database.query
      .selectFrom('outbox')
      .select('message_id')
      .where('destination', '=', destination)
      .where('message_id', 'in', messageIds)
      .where((row) => row.or([row('status', '<>', 'refused'), row('reason', 'is not', null)]))
    return (await this.#database.read(query)).flatMap(({ message_id }) => message_id ?? [])
  }

  leave(instance: InstanceName): void {
    const prefix = JSON.stringify([instance]).slice(0, -1)
    this.#cache.deleteWhere((name, { first }) => first.instance === instance || name.startsWith(`${prefix},`))
  }
}

function columnsOf({ instance, chatId, destination, conversationId }: SendContextKey) {
  return { instance, chat: chatId, destination, conversation_id: conversationId }
}

function nameOf({ instance, chatId, destination, conversationId }: SendContextKey): string {
  return JSON.stringify([instance, chatId, destination, conversationId])
}

function factsOf(rows: readonly FoundChat[]): Pick<SendContextFacts, 'stored' | 'asked'> {
  const stored = rows.flatMap((row) => {
    const chat = toStoredChat(row)
    return chat ? [{ ...chat, ...chatFactsOf(row) }] : []
  })
  const asked = rows.find(({ instance }) => instance === null)
  return { stored, asked: asked && chatFactsOf(asked) }
}

/** Accounts can share a conversation. What is imported for one of them counts for all. */
function importStateOf(rows: readonly Marks[]): ImportState {
  const ends = rows.flatMap(({ import_ended_at }) => import_ended_at ?? [])
  return {
    isHistory: rows.some(({ is_history }) => is_history === 1),
    isImporting: rows.some(({ is_importing }) => is_importing === 1),
    endedAt: ends.length === 0 ? null : Math.max(...ends),
  }
}

function chatFactsOf({ lastKey, known }: FoundChat): ChatFacts {
  return { lastAddress: lastKey === null ? undefined : addressIn(lastKey), isKnown: known === 1 }
}

/** Undefined when no chat is stored. */
function toStoredChat(row: Pick<FoundChat, 'instance' | 'chat' | 'phone' | 'lid'>): StoredChat | undefined {
  const { instance, chat: chatId, phone, lid } = row
  if (instance === null || chatId === null) return undefined
  return { instance, chatId, person: phone === null && lid === null ? null : { phone, lid } }
}
