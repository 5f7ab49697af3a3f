// The messages that a phone keeps of its chats. Companions get their history from here.
import { proto } from '../library.ts'
import { text as textContent } from '../people/contents.ts'
import type { ChatTarget } from '../people/sent-message.ts'
import { User, type Addressing } from '../server/user.ts'
import {
  changeIn,
  edited,
  keyOf,
  revoked,
  withReaction,
  type ArchivedMessage,
  type PastMessage,
} from './archived-message.ts'

const { Status } = proto.WebMessageInfo

/**
 * How a companion learns that a LID and a phone number are one person: from the chat, from the list of pairs, from the
 * receipts of the owner's messages, or not at all.
 */
export type PairSource = 'chat' | 'list' | 'receipts' | 'nowhere'
export type ChatForm = { addressing?: Addressing; pair?: PairSource }
export type ArchivedChat = {
  target: ChatTarget
  jid: string
  pair: PairSource
  /** Oldest first, as long as `isSorted` is true. */
  messages: ArchivedMessage[]
  byId: Map<string, ArchivedMessage>
  isSorted: boolean
  /** How many messages of the present the chat has. */
  passing: number
}
type Deps = {
  owner: User
  addressing: Addressing
  /** How many messages of the present each chat keeps. */
  limit: number
  freshId: () => string
}

export class ChatArchive {
  readonly #deps: Deps
  readonly #chats = new Map<ChatTarget, ArchivedChat>()
  #added = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Sets the address under which the phone keeps a chat. It must be set before the first message. */
  open(target: ChatTarget, { addressing = this.#deps.addressing, pair = 'chat' }: ChatForm = {}): ArchivedChat {
    const known = this.#chats.get(target)
    if (known) return known
    const jid = target instanceof User ? target.jid(addressing) : target.jid
    const chat: ArchivedChat = { target, jid, pair, messages: [], byId: new Map(), isSorted: true, passing: 0 }
    this.#chats.set(target, chat)
    return chat
  }

  /** Adds a message that stays. Returns its id. */
  add(target: ChatTarget, past: PastMessage): string {
    return this.#push(this.open(target), past, true)
  }

  /** Adds a message of the present. Changes of earlier messages go to those messages. */
  note(target: ChatTarget, past: PastMessage & { id: string; message: proto.IMessage }): void {
    const chat = this.open(target)
    const { owner, limit } = this.#deps
    const change = changeIn(past.message, keyOf(chat.jid, target, past.from ?? owner, owner, past.id), past.at)
    const changed = change && chat.byId.get(change.id)
    if (changed) changed.info = change.apply(changed.info)
    else this.#push(chat, past, false)
    // Dropping many at once keeps the cost of one message constant.
    if (chat.passing > 2 * limit) this.#dropOldest(chat, chat.passing - limit)
  }

  chats(): ArchivedChat[] {
    return [...this.#chats.values()]
  }

  oldestFirst(chat: ArchivedChat): readonly ArchivedMessage[] {
    if (!chat.isSorted) chat.messages.sort((one, two) => timeOf(one) - timeOf(two) || one.order - two.order)
    chat.isSorted = true
    return chat.messages
  }

  find(id: string): proto.IWebMessageInfo | undefined {
    for (const chat of this.#chats.values()) {
      const found = chat.byId.get(id)
      if (found) return found.info
    }
    return undefined
  }

  #push(chat: ArchivedChat, past: PastMessage, isRemembered: boolean): string {
    const message: ArchivedMessage = { info: this.#info(chat, past), order: ++this.#added, isRemembered }
    const last = chat.messages.at(-1)
    if (last && timeOf(last) > past.at) chat.isSorted = false
    chat.messages.push(message)
    if (!isRemembered) chat.passing += 1
    const id = message.info.key?.id ?? ''
    chat.byId.set(id, message)
    return id
  }

  #info(chat: ArchivedChat, past: PastMessage): proto.IWebMessageInfo {
    const { owner, freshId } = this.#deps
    const { target, jid } = chat
    const author = past.from ?? owner
    const key = keyOf(jid, target, author, owner, past.id ?? freshId())
    const message = past.message ?? textContent(past.text ?? '', this.#quotation(chat, past.quote))
    const participant = key.participant == null ? {} : { participant: key.participant }
    const more = author === owner ? ownFields(chat, past.at) : { pushName: author.pushName }
    const plain: proto.IWebMessageInfo = { key, message, messageTimestamp: past.at, ...more, ...participant }
    const written = past.edited === undefined ? plain : edited(plain, textContent(past.edited), past.at)
    if (past.revoked) return revoked(written)
    return (past.reactions ?? []).reduce((info, { emoji, from = owner, at = past.at }) => {
      const own = keyOf(jid, target, from, owner, freshId())
      return withReaction(info, { key: own, text: emoji, senderTimestampMs: at * 1000, unread: false })
    }, written)
  }

  #quotation({ byId, jid }: ArchivedChat, id: string | undefined): proto.IContextInfo | undefined {
    const quoted = id === undefined ? undefined : byId.get(id)?.info
    if (!quoted) return undefined
    const { key, message } = quoted
    const other = key?.fromMe ? this.#deps.owner.pnJid : jid
    const about = { stanzaId: key?.id ?? '', participant: key?.participant ?? other }
    return { ...about, ...(message ? { quotedMessage: message } : {}) }
  }

  #dropOldest(chat: ArchivedChat, count: number): void {
    let left = count
    chat.messages = this.oldestFirst(chat).filter(({ info, isRemembered }) => {
      if (isRemembered || left === 0) return true
      left -= 1
      chat.byId.delete(info.key?.id ?? '')
      return false
    })
    chat.passing -= count
  }
}

export function timeOf({ info }: ArchivedMessage): number {
  return Number(info.messageTimestamp ?? 0)
}

/** What a phone knows of a message of its owner: who got it, and who read it. */
function ownFields({ target, pair }: ArchivedChat, at: number): Partial<proto.IWebMessageInfo> {
  if (!(target instanceof User)) return { status: Status.DELIVERY_ACK }
  const userJid = pair === 'chat' || pair === 'receipts' ? target.pnJid : target.lidJid
  return { status: Status.READ, userReceipt: [{ userJid, receiptTimestamp: at, readTimestamp: at }] }
}
