// Collects what the library needs of a history: everything but its messages.

import { phoneJid } from '../../core/address.ts'
import { personOf } from '../decode/origin.ts'
import { encodeVarint, wireFields } from '../library/wire-fields.ts'
import type { HistoryPart } from './history-parser.ts'

/** The key of HistorySync.conversations. */
const conversationKey = 0x12
/** Fields of a Conversation. */
const chatId = 1
const phoneOfLid = 39
const phoneOfLidKey = encodeVarint(phoneOfLid * 8 + 2)
/** The library decodes all of it at once. The chats and the address pairs of a phone need less. */
const mostBytes = 8 * 1024 * 1024

type ChatField = Extract<HistoryPart, { type: 'chat field' }>

export class SlimHistory {
  readonly #fields: Uint8Array[] = []
  #chat: { id: string; fields: Buffer[]; phone: string | undefined; hasPhone: boolean } | undefined
  #size = 0
  /** The chats of the history, as the phone names them. */
  readonly chats = new Set<string>()
  messages = 0
  /** How many fields did not fit. */
  dropped = 0

  add(part: HistoryPart): void {
    if (part.type === 'field') this.#keep(this.#fields, part.whole)
    else if (part.type === 'chat') this.#chat = { id: '', fields: [], phone: undefined, hasPhone: false }
    else if (part.type === 'chat field') this.#addToChat(part)
    else if (part.type === 'message') this.#addMessage(part.bytes)
    else if (part.type === 'chat end') this.#endChat()
    else this.dropped += 1
  }

  bytes(): Buffer {
    return Buffer.concat(this.#fields)
  }

  #addToChat({ number, whole, value }: ChatField): void {
    const chat = this.#chat
    if (!chat) return
    if (number === chatId) chat.id = value.toString()
    if (number === phoneOfLid) chat.hasPhone = true
    this.#keep(chat.fields, whole)
  }

  /** A phone may leave out the number of a LID. Then the receipts of an own message tell it. */
  #addMessage(bytes: Buffer): void {
    this.messages += 1
    const chat = this.#chat
    if (chat && !chat.phone && personOf(chat.id)?.lid) chat.phone = receiverOf(bytes)
  }

  #endChat(): void {
    const chat = this.#chat
    this.#chat = undefined
    if (!chat || chat.fields.length === 0) return
    this.chats.add(chat.id)
    if (chat.phone && !chat.hasPhone) {
      const phone = Buffer.from(chat.phone)
      chat.fields.push(Buffer.concat([phoneOfLidKey, encodeVarint(phone.length), phone]))
    }
    const body = Buffer.concat(chat.fields)
    this.#fields.push(Buffer.concat([Buffer.of(conversationKey), encodeVarint(body.length), body]))
  }

  /** Keeps a copy: the field is a part of a much larger buffer. */
  #keep(fields: Uint8Array[], whole: Buffer): void {
    if (this.#size + whole.length > mostBytes) {
      this.dropped += 1
      return
    }
    this.#size += whole.length
    fields.push(Buffer.from(whole))
  }
}

/** The number of the person who got an own message. */
function receiverOf(historyMessage: Buffer): string | undefined {
  const info = fieldsOf(historyMessage, 1)[0]
  const [key] = info ? fieldsOf(info, 1) : []
  const isOwn = key !== undefined && isTrue(key, 2)
  const [receipt] = info && isOwn ? fieldsOf(info, 40) : []
  const phone = receipt && personOf(Buffer.from(fieldsOf(receipt, 1)[0] ?? []).toString())?.phone
  return phone ? phoneJid(phone) : undefined
}

function fieldsOf(bytes: Uint8Array, number: number): Uint8Array[] {
  return [...wireFields(bytes)].flatMap((field) => (field.number === number && field.value ? [field.value] : []))
}

function isTrue(bytes: Uint8Array, number: number): boolean {
  return [...wireFields(bytes)].some((field) => field.number === number && field.amount === 1)
}
