// The facts that are needed before a callback is accepted, in one read.
//
// What was read about a chat is remembered, and used again without a read. The commit that accepts the message then checks that
// those facts still hold, so a change by any process counts. When they do not, nothing is stored and the caller reads again. If
// nothing is remembered of a conversation, we suppose that the callback names its chat and that nothing was imported into it.

import type { PerInstance } from '../../../core/per-instance.ts'
import type { Person } from '../../../core/address.ts'
import type { ImportState } from '../../../core/history/import-state.ts'
import type { ChatId, DestinationKey, InstanceName, Jid } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Database } from '../../database.ts'
import type { Statement } from '../../engine/statement.ts'
import { compileContextRead, compileStoredChats, compileUnchanged, compileUnread } from './send-context-sql.ts'
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
  /** As remembered; null for a group. */
  person?: Person | null
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

/** `phone` and `lid` are null for a group. */
type RememberedChat = Person & Required<Pick<ChatFacts, 'lastAddress'>>

/** A chat of an instance. */
type Owner = Pick<StoredChat, 'instance' | 'chatId'>

/** What differs from what is supposed of a conversation. `owner` is the chat that is answered, if the callback names another one. */
type RememberedConversation = { owner: Owner | undefined; importState: ImportState }

/** `unchanged` touches one row while the facts still hold, and `unread` while the conversation has unread messages. */
export type RecalledFacts = Pick<SendContextFacts, 'stored' | 'asked' | 'importState'> & {
  unchanged: Statement
  unread: Statement
}

const rememberedMs = 3_600_000
const maxRemembered = 10_000
const notImported: ImportState = { isHistory: false, isImporting: false, endedAt: null }

export class SendContextStore implements PerInstance {
  readonly #database: Database
  readonly #read: ReturnType<typeof compileContextRead>
  readonly #stored: ReturnType<typeof compileStoredChats>
  readonly #unchanged: ReturnType<typeof compileUnchanged>
  readonly #unread: ReturnType<typeof compileUnread>
  readonly #chats: BoundedMap<RememberedChat>
  readonly #conversations: BoundedMap<RememberedConversation>

  constructor(database: Database, clock: Pick<Clock, 'monotonic'>, max = maxRemembered) {
    this.#database = database
    this.#read = compileContextRead(database)
    this.#stored = compileStoredChats(database)
    this.#unchanged = compileUnchanged(database)
    this.#unread = compileUnread(database)
    this.#chats = new BoundedMap({ clock, max, ttlMs: rememberedMs })
    this.#conversations = new BoundedMap({ clock, max, ttlMs: rememberedMs })
  }

  async read(key: SendContextKey): Promise<SendContextFacts> {
    const { destination: asked_from = null, kind = null, eventId: event_id = null } = key.callback ?? {}
    const rows = await this.#database.read(this.#read({ ...columnsOf(key), asked_from, kind, event_id }))
    const [first] = rows
    const hasUnread = first?.unread === 1
    const isSettled = first?.settled === 1
    const importState = importStateOf(rows)
    if (first) this.#remember(key, first, importState)
    return { ...factsOf(rows), hasUnread, isSettled, importState }
  }

  /** From memory. Undefined when too little is remembered. */
  recall(key: SendContextKey): RecalledFacts | undefined {
    const { owner = namedBy(key), importState = notImported } = this.#conversations.get(nameOf(key)) ?? {}
    const chat = owner && this.#chats.get(nameOfChat(owner))
    if (!owner || !chat) return undefined
    const { phone, lid, lastAddress } = chat
    const person = phone === null && lid === null ? null : { phone, lid }
    const facts = { lastAddress, isKnown: true, person }
    const isNamed = owner.instance === key.instance && owner.chatId === key.chatId
    const { destination, conversationId: conversation_id } = key
    const unchanged = this.#unchanged({
      ...columnsOf(key),
      ...{ owner: owner.instance, owner_chat: owner.chatId, phone, lid, last_address: lastAddress ?? null },
      ...{ is_history: importState.isHistory ? 1 : 0, import_ended_at: importState.endedAt },
    })
    return {
      stored: isNamed ? [] : [{ ...owner, ...facts, person }],
      asked: isNamed ? facts : undefined,
      importState,
      unchanged,
      unread: this.#unread({ destination, conversation_id }),
    }
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
    const prefix = `${JSON.stringify([instance]).slice(0, -1)},`
    const isOfInstance = (name: string) => name.startsWith(prefix)
    this.#chats.deleteWhere(isOfInstance)
    this.#conversations.deleteWhere((name, { owner }) => owner?.instance === instance || isOfInstance(name))
  }

  #remember(key: SendContextKey, first: FoundChat, importState: ImportState): void {
    const named = namedBy(key)
    const owner =
      first.instance === null || first.chat === null ? named : { instance: first.instance, chatId: first.chat }
    const isNamed = owner?.instance === named?.instance && owner?.chatId === named?.chatId
    const isSupposed = isNamed && !importState.isHistory && importState.endedAt === null
    if (isSupposed) this.#conversations.delete(nameOf(key))
    else this.#conversations.set(nameOf(key), { owner: isNamed ? undefined : owner, importState })
    if (!owner) return
    const { phone, lid } = first
    // A chat becomes known with the very message that is being accepted, and an import changes its marks at any moment.
    if (first.known !== 1 || importState.isImporting) this.#chats.delete(nameOfChat(owner))
    else this.#chats.set(nameOfChat(owner), { phone, lid, lastAddress: chatFactsOf(first).lastAddress })
  }
}

/** The chat that the callback names. */
function namedBy({ instance, chatId }: SendContextKey): Owner | undefined {
  return chatId === null ? undefined : { instance, chatId }
}

function nameOfChat({ instance, chatId }: Owner): string {
  return JSON.stringify([instance, chatId])
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
