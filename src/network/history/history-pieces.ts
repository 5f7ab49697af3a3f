// Collects the messages of a history into small pieces and hands each piece over before the next one is read.

import { parseChat } from '../../core/address.ts'
import type { Chat, Person } from '../../core/address.ts'
import type { Anchor, PastChat, PastEvent } from '../../core/history/past-events.ts'
import type { Jid } from '../../core/ids.ts'
import { cleaned } from '../decode/clean.ts'
import { peopleIn } from '../decode/event.ts'
import { plainJid } from '../decode/origin.ts'
import type { HistoryPart } from './history-parser.ts'
import { chatNamedIn, readPastMessage } from './past-message.ts'

type Deps = {
  /** Messages before this time are left out. */
  since: number
  own: () => Person
  /** Adds what the account knows of the people. */
  complete: (people: readonly Person[]) => Promise<void>
  /** Resolves when the piece is stored. */
  deliver: (chats: readonly PastChat[]) => Promise<void>
}

type Collected = { jid: Jid; chat: Chat; events: PastEvent[]; leftOut: number; oldest: Anchor | null }

const mostMessages = 200
const mostBytes = 1024 * 1024
const chatId = 1

export class HistoryPieces {
  readonly #deps: Deps
  #chats = new Map<Jid, Collected>()
  #messages = 0
  #bytes = 0
  /** The chat that is being read, and how many of its messages have come. */
  #jid = ''
  #index = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns a promise if a piece is full and must be handed over first. */
  add(part: HistoryPart): Promise<void> | undefined {
    if (part.type === 'chat') {
      this.#jid = ''
      this.#index = 0
    } else if (part.type === 'chat field' && part.number === chatId) {
      this.#jid = part.value.toString()
      this.#chatOf(this.#jid)
    } else if (part.type === 'message') {
      this.#addMessage(part.bytes)
    } else if (part.type === 'too large') {
      this.#leaveOut(this.#chatOf(this.#jid))
    }
    const isFull = this.#messages >= mostMessages || this.#bytes >= mostBytes || this.#chats.size >= mostMessages
    return isFull ? this.flush() : undefined
  }

  /** Hands over what has come since the last piece. */
  async flush(): Promise<void> {
    const chats = [...this.#chats.values()]
    this.#chats = new Map()
    this.#messages = 0
    this.#bytes = 0
    if (chats.length === 0) return
    const people = chats.flatMap(({ chat, events }) => [
      ...(chat.kind === 'person' ? [chat] : []),
      ...events.flatMap(({ event }) => peopleIn(event)),
    ])
    await this.#deps.complete(people)
    await this.#deps.deliver(chats.map((chat) => ({ ...chat, events: chat.events.map(cleanedEvent) })))
  }

  #addMessage(bytes: Buffer): void {
    const chatJid = this.#jid === '' ? chatNamedIn(bytes) : this.#jid
    const index = this.#index
    this.#index += 1
    const collected = this.#chatOf(chatJid)
    if (!collected) return
    const { since, own } = this.#deps
    const { events, anchor } = readPastMessage(bytes, { chatJid, index, since, own: own() })
    if (events.length === 0) this.#leaveOut(collected)
    this.#messages += events.length
    this.#bytes += events.length > 0 ? bytes.length : 0
    collected.events.push(...events)
    // Of two messages in the same second, the older one comes later.
    if (anchor && (!collected.oldest || anchor.at <= collected.oldest.at)) collected.oldest = anchor
  }

  #leaveOut(collected: Collected | undefined): void {
    if (collected) collected.leftOut += 1
  }

  /** Undefined for status updates, channels and broadcast lists. */
  #chatOf(jid: Jid): Collected | undefined {
    const known = this.#chats.get(jid)
    if (known) return known
    const chat = parseChat(plainJid(jid))
    if (!chat) return undefined
    const collected = { jid, chat, events: [], leftOut: 0, oldest: null }
    this.#chats.set(jid, collected)
    return collected
  }
}

function cleanedEvent({ event, position }: PastEvent): PastEvent {
  return { event: cleaned(event), position }
}
