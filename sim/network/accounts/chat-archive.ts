// The messages that a phone keeps of its chats. Companions get their history from here.
import type { proto } from '../library.ts'
import { User, type Addressing } from '../server/user.ts'
import type { ChatTimer } from '../people/chat-timers.ts'
import type { ChatTarget } from '../people/sent-message.ts'

export type PastMessage = {
  text?: string
  message?: proto.IMessage
  /** The author. The default is the owner of the phone. */
  from?: User
  /** Unix seconds. */
  at: number
  id?: string
}
type Chat = { target: ChatTarget; messages: proto.IWebMessageInfo[] }
type Deps = {
  owner: User
  addressing: Addressing
  limit: number
  freshId: () => string
  timerOf: (chat: User) => ChatTimer | undefined
}

export class ChatArchive {
  readonly #deps: Deps
  readonly #chats = new Map<string, Chat>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  add(target: ChatTarget, past: PastMessage): string {
    const { owner, freshId, limit } = this.#deps
    const jid = this.#jid(target)
    const chat = this.#chats.get(jid) ?? { target, messages: [] }
    this.#chats.set(jid, chat)
    const id = past.id ?? freshId()
    const author = past.from ?? owner
    const participant = target instanceof User ? {} : { participant: author.jid(target.addressing) }
    chat.messages.push({
      key: { remoteJid: jid, fromMe: author === owner, id, ...participant },
      message: past.message ?? { conversation: past.text ?? '' },
      messageTimestamp: past.at,
      ...(author === owner ? {} : { pushName: author.pushName }),
      ...participant,
    })
    if (chat.messages.length > limit) chat.messages.shift()
    return id
  }

  /** The newest messages of every chat, newest first. */
  recent(perChat: number): proto.IConversation[] {
    return [...this.#chats.values()].map((chat) => this.#conversation(chat, this.#newestFirst(chat).slice(0, perChat)))
  }

  /** The messages of one chat that are older than the given one, newest first. */
  before(jid: string, oldestId: string, count: number): proto.IConversation[] {
    const chat = [...this.#chats.values()].find((one) => this.#addresses(one.target).includes(jid))
    if (!chat) return []
    const messages = this.#newestFirst(chat)
    const anchor = messages.findIndex((one) => one.key?.id === oldestId)
    return [this.#conversation(chat, anchor < 0 ? [] : messages.slice(anchor + 1, anchor + 1 + count))]
  }

  find(id: string): proto.IWebMessageInfo | undefined {
    return [...this.#chats.values()].flatMap((chat) => chat.messages).find((one) => one.key?.id === id)
  }

  people(): User[] {
    return [...this.#chats.values()].flatMap(({ target }) =>
      target instanceof User ? [target] : [...target.members()].filter((one) => one !== this.#deps.owner),
    )
  }

  #newestFirst(chat: Chat): proto.IWebMessageInfo[] {
    return chat.messages.toSorted((one, two) => Number(two.messageTimestamp ?? 0) - Number(one.messageTimestamp ?? 0))
  }

  #conversation({ target }: Chat, messages: proto.IWebMessageInfo[]): proto.IConversation {
    const id = this.#jid(target)
    const known =
      target instanceof User
        ? { pnJid: target.pnJid, lidJid: target.lidJid, ...this.#timer(target) }
        : { name: 'subject' in target ? String(target.subject) : '' }
    const conversationTimestamp = messages[0]?.messageTimestamp ?? 0
    return { id, ...known, conversationTimestamp, messages: messages.map((message) => ({ message })) }
  }

  #timer(person: User): Pick<proto.IConversation, 'ephemeralExpiration' | 'ephemeralSettingTimestamp'> {
    const timer = this.#deps.timerOf(person)
    if (!timer || timer.setAt === 0) return {}
    return { ephemeralExpiration: timer.seconds, ephemeralSettingTimestamp: timer.setAt }
  }

  #jid(target: ChatTarget): string {
    return target instanceof User ? target.jid(this.#deps.addressing) : target.jid
  }

  #addresses(target: ChatTarget): string[] {
    return target instanceof User ? [target.pnJid, target.lidJid] : [target.jid]
  }
}
